/**
 * Determines the name of the final level. A read of R replicas sees every write to W replicas only
 * if R + W exceeds the number of replicas N. If that holds in every keyspace, the level is
 * `strong`, otherwise `quorum` (Correctables, OSDI 2016, §5.2).
 */

/** The consistency levels of a read. */
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

/** A Cassandra consistency level: the number of replicas for a request. */
export type Consistency = (typeof READ_CONSISTENCIES)[number];

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

/** Quorums over all data centers. Any two of them share a replica. */
type GlobalQuorum = 'QUORUM' | 'EACH_QUORUM';
type AnyQuorum = GlobalQuorum | 'LOCAL_QUORUM';

/**
 * Pairs of read and write consistency that share a replica, whatever the replication of the
 * keyspace.
 */
type IntersectingQuorums =
  | readonly ['ALL', Consistency]
  | readonly [Consistency, 'ALL']
  | readonly [GlobalQuorum, GlobalQuorum]
  | readonly ['EACH_QUORUM', AnyQuorum]
  | readonly [AnyQuorum, 'EACH_QUORUM'];

/** Pairs that share a replica if all replicas are in one data center. */
type IntersectingQuorumsInDataCenter = IntersectingQuorums | readonly [AnyQuorum, AnyQuorum];

/**
 * The name of the final level of reads at `R` and writes at `W`. `S` is true if all replicas are in
 * one data center. If these are not known at compile time, the type is both names.
 */
export type FinalLevel<
  R extends Consistency,
  W extends Consistency,
  S extends boolean,
> = R extends unknown
  ? W extends unknown
    ? S extends unknown
      ? readonly [R, W] extends (
          S extends true ? IntersectingQuorumsInDataCenter : IntersectingQuorums
        )
        ? 'strong'
        : 'quorum'
      : never
    : never
  : never;

/** The levels of a binding, weakest first. */
export type CassandraLevels<F extends 'strong' | 'quorum' = 'strong' | 'quorum'> = readonly [
  'weak',
  F,
];

/** Any level of any binding to Cassandra. */
export type Level = CassandraLevels[number];

const GLOBAL_QUORUMS: ReadonlySet<Consistency> = new Set(['QUORUM', 'EACH_QUORUM']);
const ANY_QUORUMS: ReadonlySet<Consistency> = new Set(['QUORUM', 'EACH_QUORUM', 'LOCAL_QUORUM']);

/** Returns the name of the final level. The type `FinalLevel` computes the same. */
export function getFinalLevel(
  read: Consistency,
  write: Consistency,
  singleDataCenter: boolean,
): 'strong' | 'quorum' {
  if (read === 'ALL' || write === 'ALL') return 'strong';
  if (GLOBAL_QUORUMS.has(read) && GLOBAL_QUORUMS.has(write)) return 'strong';
  if (!ANY_QUORUMS.has(read) || !ANY_QUORUMS.has(write)) return 'quorum';
  return singleDataCenter || read === 'EACH_QUORUM' || write === 'EACH_QUORUM'
    ? 'strong'
    : 'quorum';
}
