/**
 * Decides in a transaction of the store which changes of a page are written, because other pages
 * may have written meanwhile.
 */
import { isRecord } from '../../../correctable/validate.ts';
import type { WriteAuthorsData } from '../updated-tags.ts';
import {
  InvalidationLog,
  type Invalidation,
  type InvalidationLogData,
} from '../invalidation-log.ts';
import { getViewReader } from '../cache-key.ts';
import { getTags } from '../tags.ts';
import type { CacheChange, CacheEntry } from '../cache-store.ts';
import type { InvalidationKind, PrecedenceVerdict } from '../view-precedence.ts';
import type { TagTimestampsData } from '../tag-timestamps.ts';
import { TransactionLog, type ProgramMoment, type KnownTransaction } from './transaction-log.ts';
import type { CachedView } from '../view-cache.ts';

/**
 * The id of the ledger, an entry beside the views. It has the number of the store's last
 * transaction, and which transaction changed what.
 */
export const LEDGER_ID = '["ledger"]';

export interface WriteBatch {
  /** The views to write by id, or `undefined` to remove one. */
  readonly views: ReadonlyMap<string, CachedView | undefined>;
  /**
   * The changes of the page. Views that were read before these changes must not be returned any
   * more.
   */
  readonly invalidations: readonly Invalidation[];
}

export type WrittenChanges = readonly CacheChange[];

/** Returns changes that write only the ledger and remove the views. */
export function removeViews(written: WrittenChanges): WrittenChanges {
  return written.map(([id, entry]) => [id, id === LEDGER_ID ? entry : undefined]);
}

export interface TransactionContext {
  readonly cacheId: string;
  /** The last transaction of the store that the page knows. */
  readonly lastSeenSeq: number;
  /**
   * Returns the last transaction that certainly ended before an operation began that knew `noted`.
   */
  readonly findLastEndedBefore: (noted: KnownTransaction) => number;
  /** Milliseconds since the epoch. */
  readonly nowMs: number;
  /** The same moment, as the count of this program's actions on the store. */
  readonly programMoment: ProgramMoment;
  readonly maxTags: number;
  readonly decidePrecedence: PrecedenceRule;
}

/**
 * The rule of precedence, with times in transactions of the store. `began` is the last transaction
 * before the operation of `view` began.
 */
export type PrecedenceRule = (
  view: CachedView,
  began: number,
  current: CacheEntry | undefined,
  invalidation: InvalidationKind,
) => PrecedenceVerdict;

export class StoreLedger {
  seq: number;
  readonly invalidations: InvalidationLog;
  readonly log: TransactionLog;

  constructor(seq: number, invalidations: InvalidationLog, log: unknown) {
    this.seq = seq;
    this.invalidations = invalidations;
    this.log = new TransactionLog(log);
  }

  /** Reads the ledger from its entry. Returns a new one if there is none, or if it is damaged. */
  static fromEntry(entry: CacheEntry | undefined, maxMarks: number): StoreLedger {
    return isLedger(entry?.value)
      ? new StoreLedger(
          entry.value.seq,
          new InvalidationLog(maxMarks, entry.value),
          entry.value.log,
        )
      : new StoreLedger(0, new InvalidationLog(maxMarks), []);
  }

  /**
   * Returns whether the ledger beside these entries is damaged or missing, so that it is unknown
   * what has changed.
   */
  static isLost(stored: ReadonlyMap<string, CacheEntry>): boolean {
    const entry = stored.get(LEDGER_ID);
    if (entry !== undefined) return !isLedger(entry.value);
    return [...stored.values()].some((item) => isRecord(item) && item.stamp !== undefined);
  }

  /** Returns whether an object of the entry was changed after the entry was written. */
  isOutdated(id: string, { touches, stamp }: CacheEntry): boolean {
    return this.invalidations.getLatestTime(getTags(id, touches)) > (stamp?.seq ?? 0);
  }

  toEntry(): CacheEntry {
    return {
      value: { seq: this.seq, ...this.invalidations.data, log: this.log.data },
      level: '',
      cachedAt: 0,
      touches: [],
    };
  }
}

/** Runs the transaction: returns what to write of a batch, given the stored entries `found`. */
export function runTransaction(
  { views, invalidations }: WriteBatch,
  {
    cacheId,
    lastSeenSeq,
    findLastEndedBefore,
    nowMs,
    programMoment,
    maxTags,
    decidePrecedence,
  }: TransactionContext,
  found: ReadonlyMap<string, CacheEntry>,
): { readonly written: readonly CacheChange[]; readonly ledger: StoreLedger } {
  const ledger = StoreLedger.fromEntry(found.get(LEDGER_ID), maxTags);
  // Continue from `lastSeenSeq`: after a deletion of the database, its own numbers would begin
  // again at 1.
  const seq = Math.max(ledger.seq, lastSeenSeq) + 1;
  const written: CacheChange[] = [];
  for (const [id, view] of views) {
    const there = found.get(id);
    const current = there && !ledger.isOutdated(id, there) ? there : undefined;
    const verdict = view === undefined ? 'neither' : judgeOf(id, view, current);
    if (verdict === 'keep') continue;
    const stays = view !== undefined && verdict !== 'neither';
    written.push([id, stays ? { ...view.entry, stamp: { cacheId, seq } } : undefined]);
  }
  ledger.seq = seq;
  ledger.log.add(seq, nowMs, programMoment);
  for (const change of invalidations) ledger.invalidations.record(change, seq);
  return { written: [...written, [LEDGER_ID, ledger.toEntry()]], ledger };

  function judgeOf(
    id: string,
    view: CachedView,
    current: CacheEntry | undefined,
  ): PrecedenceVerdict {
    const { entry, isStrongest } = view;
    const startedAt = findLastEndedBefore(view.knownTransaction);
    const reading = { principal: getViewReader(id), startedAt, isStrongest };
    const invalidation = ledger.invalidations.findInvalidation(getTags(id, entry.touches), reading);
    // A view that this page stored is not compared again: the page has compared its own views
    // already.
    return decidePrecedence(
      view,
      startedAt,
      current?.stamp?.cacheId === cacheId && invalidation === 'none' ? undefined : current,
      invalidation,
    );
  }
}

function isLedger(value: unknown): value is {
  readonly seq: number;
  readonly log?: unknown;
} & InvalidationLogData {
  if (!isRecord(value)) return false;
  const { seq, writes, drops, authors } = value;
  return (
    typeof seq === 'number' &&
    isTagTimestampsData(writes) &&
    isTagTimestampsData(drops) &&
    isWriteAuthorsData(authors)
  );
}

function isTagTimestampsData(value: unknown): value is TagTimestampsData {
  if (!isRecord(value)) return false;
  const { floor, tags, times } = value;
  return (
    isNumber(floor) &&
    isArrayOf(isString, tags) &&
    isArrayOf(isNumber, times) &&
    tags.length === times.length
  );
}

function isWriteAuthorsData(value: unknown): value is WriteAuthorsData {
  const isAuthor = (item: unknown): boolean =>
    Array.isArray(item) && isString(item[0]) && (item[1] === null || isArrayOf(isString, item[1]));
  return isArrayOf(isAuthor, value);
}

function isArrayOf(
  isRight: (item: unknown) => boolean,
  value: unknown,
): value is readonly unknown[] {
  return Array.isArray(value) && value.every(isRight);
}

const isString = (value: unknown): boolean => typeof value === 'string';
const isNumber = (value: unknown): boolean => typeof value === 'number';
