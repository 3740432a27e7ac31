/** Cassandra's consistency levels: how many replicas take part in a request. */

/** What a read can ask for. */
export const READ_CONSISTENCIES = [
  'ONE',
  'LOCAL_ONE',
  'TWO',
  'THREE',
  'LOCAL_QUORUM',
  'QUORUM',
  'EACH_QUORUM',
  'ALL',
] as const;

/** The number of replicas that a request asks, by Cassandra's names. */
export type Consistency = (typeof READ_CONSISTENCIES)[number];

/** What they are in the native protocol. */
export const CONSISTENCY_CODES: Readonly<Record<Consistency, number>> = {
  ONE: 0x01,
  TWO: 0x02,
  THREE: 0x03,
  QUORUM: 0x04,
  ALL: 0x05,
  LOCAL_QUORUM: 0x06,
  EACH_QUORUM: 0x07,
  LOCAL_ONE: 0x0a,
};
