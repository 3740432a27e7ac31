/** The messages between sites about a log that etcd keeps: how much of it a site has. Sites find copies that differ by them. */
import { count, digest, record, word } from '../../records/record-schemas.ts';
import type { LogMessageFormat } from '../red-log-engine.ts';

export interface DigestMessage {
  readonly kind: 'log.digest';
  readonly position: number;
  readonly digest?: number;
  /** The last place whose digest the site keeps for long: a site that is far ahead may not have later ones any more. */
  readonly markPosition: number;
  readonly markDigest?: number;
  readonly checkpointed: number;
  /** A question of the sender after it has connected to etcd: the receiver replies at once. */
  readonly asks?: string;
  /** The question that this replies to. */
  readonly answers?: string;
}

/** Records are never in these messages: they go through etcd. */
export const ETCD_MESSAGE_FORMAT: LogMessageFormat = {
  createSchemas: () => ({
    'log.digest': record(
      { kind: word, position: count, markPosition: count, checkpointed: count },
      { digest, markDigest: digest, asks: word, answers: word },
    ),
  }),
  getProposedRecords: () => [],
  needsRoom: () => false,
  split: () => undefined,
};
