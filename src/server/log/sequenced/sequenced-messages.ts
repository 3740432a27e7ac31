/** The messages between nodes of the sequenced log, and their format. */
import type { Origin } from '../../service/records/origin.ts';
import type { RedRecord } from '../../service/records/records.ts';
import {
  count,
  digest,
  list,
  record,
  siteOrigin,
  start,
  word,
  integerFrom,
  type RecordSchema,
} from '../record-schemas.ts';
import { MAX_OPERATIONS_PER_MESSAGE } from '../send-windows.ts';
import { mixEntry } from '../prefix-digest.ts';
import type { LogEntry } from '../red-log.ts';
import type { LogMessageFormat, ProposedRecord } from '../red-log-engine.ts';

export type SequencedMessage<R> =
  /** The sender's `sequence`-th proposal since it started in `epoch`. */
  | {
      readonly kind: 'log.propose';
      readonly epoch: number;
      readonly sequence: number;
      readonly record: R;
    }
  /** Asks the leader which of the proposals up to the one with the number `last` it has. */
  | {
      readonly kind: 'log.check';
      readonly epoch: number;
      readonly last: number;
      readonly probe: number;
    }
  /** Answers a check: the leader has all proposals before `next`. */
  | {
      readonly kind: 'log.checked';
      readonly epoch: number;
      readonly next: number;
      readonly probe: number;
    }
  /** Entries from `position` on. A majority holds all entries before `committed`. */
  | {
      readonly kind: 'log.append';
      readonly position: number;
      readonly entries: readonly LogEntry<R>[];
      readonly committed: number;
      /** The digest of the entries before `position`. */
      readonly digest?: number | undefined;
      /**
       * A probe: the follower has to report how much it has received, also if that is not synced.
       */
      readonly probe?: number | undefined;
    }
  /**
   * All entries before `length` are synced at the sender. It knows that those before `committed`
   * are committed.
   */
  | {
      readonly kind: 'log.appended';
      readonly length: number;
      readonly committed: number;
      /** The number of received entries, in an answer to a probe. */
      readonly received?: number | undefined;
      readonly probe?: number | undefined;
    }
  /** The leader does not keep the entries after this length any more. */
  | { readonly kind: 'log.gone'; readonly length: number };

type Message = SequencedMessage<RedRecord>;

const ordinalNumber = integerFrom(1);
const NO_RECORDS: readonly ProposedRecord[] = [];

/** By kind. The type of the table contains all kinds. */
function createSchemas(redRecord: RecordSchema): Readonly<Record<Message['kind'], RecordSchema>> {
  const entry = record({
    origin: siteOrigin,
    epoch: start,
    sequence: ordinalNumber,
    record: redRecord,
  });
  return {
    'log.propose': record({
      kind: word,
      epoch: start,
      sequence: ordinalNumber,
      record: redRecord,
    }),
    'log.check': record({
      kind: word,
      epoch: start,
      last: ordinalNumber,
      probe: count,
    }),
    'log.checked': record({
      kind: word,
      epoch: start,
      next: ordinalNumber,
      probe: count,
    }),
    'log.append': record(
      {
        kind: word,
        position: count,
        entries: list(entry, MAX_OPERATIONS_PER_MESSAGE),
        committed: count,
      },
      { digest, probe: count },
    ),
    'log.appended': record(
      { kind: word, length: count, committed: count },
      { received: count, probe: count },
    ),
    'log.gone': record({ kind: word, length: count }),
  };
}

/** Only nodes of the log create these messages, and received ones have passed the schemas. */
export const SEQUENCED_MESSAGE_FORMAT: LogMessageFormat = {
  createSchemas,
  getProposedRecords(message: Message, from: Origin): readonly ProposedRecord[] {
    if (message.kind === 'log.propose') return [{ origin: from, record: message.record }];
    return message.kind === 'log.append' ? message.entries : NO_RECORDS;
  },
  needsRoom(message: Message): boolean {
    return (
      message.kind === 'log.propose' ||
      (message.kind === 'log.append' && message.entries.length > 0)
    );
  },
  split(message: Message): readonly [Message, Message] | undefined {
    if (message.kind !== 'log.append' || message.entries.length < 2) return undefined;
    const { position, entries, digest: before } = message;
    const middle = entries.length >> 1;
    const head = entries.slice(0, middle);
    const second = {
      ...message,
      position: position + middle,
      entries: entries.slice(middle),
    };
    const between = before === undefined ? {} : { digest: head.reduce(mixEntry, before) };
    return [
      { ...message, entries: head },
      { ...second, ...between },
    ];
  },
};
