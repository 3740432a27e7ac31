/**
 * What is written of a page's changes, decided inside the store's transaction: other pages may have written since, and
 * have changed objects that a view of this page was read before.
 */
import { isRecord } from '../../correctable/given.ts';
import type { AuthorsData } from './authors.ts';
import { Fences, type Change, type FencesData } from './fences.ts';
import { principalOf } from './identity.ts';
import { marksOf } from './scope.ts';
import type { CacheChange, CacheEntry } from './store.ts';
import type { Fence, Verdict } from './supersede.ts';
import type { TimesData } from './times.ts';
import { TransactionLog, type Counted, type Noted } from './transaction-log.ts';
import type { CachedView } from './view-cache.ts';

/** Beside the views: the number of the store's last transaction, and when what was last changed by it. */
export const LEDGER_ID = '["ledger"]';

/** What a page wants written. */
export interface Batch {
  /** By id: the view to file, or `undefined` to remove what is there. */
  readonly views: ReadonlyMap<string, CachedView | undefined>;
  /** What the page has changed: whatever was read before must not be found any more. */
  readonly changes: readonly Change[];
}

/** What comes of it. */
export type Written = readonly CacheChange[];

/** The ledger alone is written; what would be filed is removed. */
export function withoutViews(written: Written): Written {
  return written.map(([id, entry]) => [id, id === LEDGER_ID ? entry : undefined]);
}

/** Who writes. */
export interface Writer {
  readonly page: string;
  /** The last transaction of the store that the page knows of. */
  readonly seen: number;
  /** The last one that surely ended before an operation which noted that. */
  readonly endedBefore: (noted: Noted) => number;
  /** Milliseconds since the epoch. */
  readonly nowMs: number;
  /** The same by what this program does on the store. */
  readonly counted: Counted;
  readonly marksMax: number;
  readonly judge: Judge;
}

/** The rule, with times in transactions of the store; `began` is the last one before the operation of `view` began. */
export type Judge = (view: CachedView, began: number, current: CacheEntry | undefined, fence: Fence) => Verdict;

/** The store's own memory of its transactions. */
export class Ledger {
  seq: number;
  readonly fences: Fences;
  readonly log: TransactionLog;

  constructor(seq: number, fences: Fences, log: unknown) {
    this.seq = seq;
    this.fences = fences;
    this.log = new TransactionLog(log);
  }

  /** As it was stored; a new one where there is none, or it is damaged. */
  static of(entry: CacheEntry | undefined, marksMax: number): Ledger {
    return isLedger(entry?.value)
      ? new Ledger(entry.value.seq, new Fences(marksMax, entry.value), entry.value.log)
      : new Ledger(0, new Fences(marksMax), []);
  }

  /** Whether there was one beside these entries which is damaged or missing: nothing says any more what has changed since. */
  static isLost(stored: ReadonlyMap<string, CacheEntry>): boolean {
    const entry = stored.get(LEDGER_ID);
    if (entry !== undefined) return !isLedger(entry.value);
    return [...stored.values()].some((each) => isRecord(each) && each.stamp !== undefined);
  }

  /** Whether something that the entry depends on was changed after it was written. */
  isOutdated(id: string, { touches, stamp }: CacheEntry): boolean {
    return this.fences.latest(marksOf(id, touches)) > (stamp?.seq ?? 0);
  }

  toEntry(): CacheEntry {
    return { value: { seq: this.seq, ...this.fences.data, log: this.log.data }, level: '', cachedAt: 0, touches: [] };
  }
}

/** The transaction: what becomes of a batch where `found` is there already. */
export function settle(
  { views, changes }: Batch,
  { page, seen, endedBefore, nowMs, counted, marksMax, judge }: Writer,
  found: ReadonlyMap<string, CacheEntry>,
): { readonly written: readonly CacheChange[]; readonly ledger: Ledger } {
  const ledger = Ledger.of(found.get(LEDGER_ID), marksMax);
  // Where somebody has deleted the database, its numbers would begin again.
  const seq = Math.max(ledger.seq, seen) + 1;
  const written: CacheChange[] = [];
  for (const [id, view] of views) {
    const there = found.get(id);
    const current = there && !ledger.isOutdated(id, there) ? there : undefined;
    const verdict = view === undefined ? 'neither' : judgeOf(id, view, current);
    if (verdict === 'keep') continue;
    const stays = view !== undefined && verdict !== 'neither';
    written.push([id, stays ? { ...view.entry, stamp: { page, seq } } : undefined]);
  }
  ledger.seq = seq;
  ledger.log.add(seq, nowMs, counted);
  for (const change of changes) ledger.fences.raise(change, seq);
  return { written: [...written, [LEDGER_ID, ledger.toEntry()]], ledger };

  function judgeOf(id: string, view: CachedView, current: CacheEntry | undefined): Verdict {
    const { entry, isStrongest } = view;
    const began = endedBefore(view.noted);
    const reading = { principal: principalOf(id), began, isStrongest };
    const fence = ledger.fences.against(marksOf(id, entry.touches), reading);
    // Of its own views the page has decided already.
    return judge(view, began, current?.stamp?.page === page && fence === 'none' ? undefined : current, fence);
  }
}

function isLedger(value: unknown): value is { readonly seq: number; readonly log?: unknown } & FencesData {
  if (!isRecord(value)) return false;
  const { seq, updates, drops, authors } = value;
  return typeof seq === 'number' && areTimes(updates) && areTimes(drops) && areAuthors(authors);
}

function areTimes(value: unknown): value is TimesData {
  if (!isRecord(value)) return false;
  const { floor, marks, times } = value;
  return isNumber(floor) && isListOf(isText, marks) && isListOf(isNumber, times) && marks.length === times.length;
}

function areAuthors(value: unknown): value is AuthorsData {
  const isAuthor = (each: unknown): boolean =>
    Array.isArray(each) && isText(each[0]) && (each[1] === null || isListOf(isText, each[1]));
  return isListOf(isAuthor, value);
}

function isListOf(isRight: (item: unknown) => boolean, value: unknown): value is readonly unknown[] {
  return Array.isArray(value) && value.every(isRight);
}

const isText = (value: unknown): boolean => typeof value === 'string';
const isNumber = (value: unknown): boolean => typeof value === 'number';
