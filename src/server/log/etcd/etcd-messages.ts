/** What sites tell each other of a log that etcd keeps: how much of it they have, so that copies which differ are found. */
import { count, digest, record, word } from '../../records/record-schemas.ts';
import type { LogMessageFormat } from '../red-log-engine.ts';

/** What a site has taken, and the digest of that. */
export interface DigestMessage {
  readonly kind: 'log.digest';
  readonly position: number;
  readonly digest?: number;
  /** The last place that the site remembers for long, for those that are far ahead. */
  readonly markPosition: number;
  readonly markDigest?: number;
  /** So many entries are in its checkpoint. */
  readonly checkpointed: number;
}

/** Records go by way of etcd alone. */
export const ETCD_MESSAGE_FORMAT: LogMessageFormat = {
  createSchemas: () => ({
    'log.digest': record(
      { kind: word, position: count, markPosition: count, checkpointed: count },
      { digest, markDigest: digest },
    ),
  }),
  getProposedRecords: () => [],
  needsRoom: () => false,
  split: () => undefined,
};
