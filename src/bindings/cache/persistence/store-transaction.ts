/**
 * What is written of a page's changes, decided in the store's transaction:
 * other pages may have written since.
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
import type {
  InvalidationKind,
  PrecedenceVerdict,
} from '../view-precedence.ts';
import type { TagTimestampsData } from '../tag-timestamps.ts';
import {
  TransactionLog,
  type ProgramMoment,
  type KnownTransaction,
} from './transaction-log.ts';
import type { CachedView } from '../view-cache.ts';

/**
 * Beside the views: the number of the store's last transaction, and when what
 * was last changed by it.
 */
export const LEDGER_ID = '["ledger"]';

export interface WriteBatch {
  /** By id: the view to file, or `undefined` to remove what is there. */
  readonly views: ReadonlyMap<string, CachedView | undefined>;
  /**
   * What the page has changed: whatever was read before must not be found any
   * more.
   */
  readonly invalidations: readonly Invalidation[];
}

export type WrittenChanges = readonly CacheChange[];

/** The ledger alone is written; what would be filed is removed. */
export function removeViews(written: WrittenChanges): WrittenChanges {
  return written.map(([id, entry]) => [
    id,
    id === LEDGER_ID ? entry : undefined,
  ]);
}

export interface TransactionContext {
  readonly cacheId: string;
  /** The last transaction of the store that the page knows of. */
  readonly lastSeenSeq: number;
  /** The last one that surely ended before an operation which noted that. */
  readonly findLastEndedBefore: (noted: KnownTransaction) => number;
  /** Milliseconds since the epoch. */
  readonly nowMs: number;
  /** The same by what this program does on the store. */
  readonly programMoment: ProgramMoment;
  readonly maxTags: number;
  readonly decidePrecedence: PrecedenceRule;
}

/**
 * The rule, with times in transactions of the store; `began` is the last one
 * before the operation of `view` began.
 */
export type PrecedenceRule = (
  view: CachedView,
  began: number,
  current: CacheEntry | undefined,
  fence: InvalidationKind,
) => PrecedenceVerdict;

export class StoreLedger {
  seq: number;
  readonly invalidations: InvalidationLog;
  readonly log: TransactionLog;

  constructor(seq: number, fences: InvalidationLog, log: unknown) {
    this.seq = seq;
    this.invalidations = fences;
    this.log = new TransactionLog(log);
  }

  /** As it was stored; a new one where there is none, or it is damaged. */
  static fromEntry(
    entry: CacheEntry | undefined,
    maxMarks: number,
  ): StoreLedger {
    return isLedger(entry?.value)
      ? new StoreLedger(
          entry.value.seq,
          new InvalidationLog(maxMarks, entry.value),
          entry.value.log,
        )
      : new StoreLedger(0, new InvalidationLog(maxMarks), []);
  }

  /**
   * Whether there was one beside these entries which is damaged or missing:
   * nothing says any more what has changed since.
   */
  static isLost(stored: ReadonlyMap<string, CacheEntry>): boolean {
    const entry = stored.get(LEDGER_ID);
    if (entry !== undefined) return !isLedger(entry.value);
    return [...stored.values()].some(
      (item) => isRecord(item) && item.stamp !== undefined,
    );
  }

  /**
   * Whether something that the entry depends on was changed after it was
   * written.
   */
  isOutdated(id: string, { touches, stamp }: CacheEntry): boolean {
    return (
      this.invalidations.getLatestTime(getTags(id, touches)) > (stamp?.seq ?? 0)
    );
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

/** The transaction: what becomes of a batch where `found` is there already. */
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
  // If the database was deleted, its numbers would begin again.
  const seq = Math.max(ledger.seq, lastSeenSeq) + 1;
  const written: CacheChange[] = [];
  for (const [id, view] of views) {
    const there = found.get(id);
    const current = there && !ledger.isOutdated(id, there) ? there : undefined;
    const verdict = view === undefined ? 'neither' : judgeOf(id, view, current);
    if (verdict === 'keep') continue;
    const stays = view !== undefined && verdict !== 'neither';
    written.push([
      id,
      stays ? { ...view.entry, stamp: { cacheId, seq } } : undefined,
    ]);
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
    const fence = ledger.invalidations.findInvalidation(
      getTags(id, entry.touches),
      reading,
    );
    // Of its own views the page has decided already.
    return decidePrecedence(
      view,
      startedAt,
      current?.stamp?.cacheId === cacheId && fence === 'none'
        ? undefined
        : current,
      fence,
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
    Array.isArray(item) &&
    isString(item[0]) &&
    (item[1] === null || isArrayOf(isString, item[1]));
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
