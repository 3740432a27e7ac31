/**
 * What is written of a page's changes, decided inside the store's transaction: other pages may have written since, and
 * have changed objects that a view of this page was read before.
 */
import { isRecord } from '../../correctable/given.ts';
import { Fences, type ChangeKind, type FencesData } from './fences.ts';
import { marksOf, type Scope } from './scope.ts';
import type { CacheChange, CacheEntry } from './store.ts';
import type { Fence, Verdict } from './supersede.ts';
import { TransactionLog, type Logged, type Noted } from './transaction-log.ts';
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

/** Something that a page has changed, or wants forgotten. */
export interface Change {
  readonly kind: ChangeKind;
  readonly scope: Scope;
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
  { page, seen, endedBefore, nowMs, marksMax, judge }: Writer,
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
  ledger.log.add(seq, nowMs);
  for (const { kind, scope } of changes) ledger.fences.raise(kind, scope, seq);
  return { written: [...written, [LEDGER_ID, ledger.toEntry()]], ledger };

  function judgeOf(id: string, view: CachedView, current: CacheEntry | undefined): Verdict {
    const { entry, isStrongest } = view;
    const began = endedBefore(view.noted);
    const fence = ledger.fences.against(marksOf(id, entry.touches), { began, isStrongest });
    // Of its own views the page has decided already.
    return judge(view, began, current?.stamp?.page === page && fence === 'none' ? undefined : current, fence);
  }
}

function isLedger(value: unknown): value is { readonly seq: number; readonly log?: readonly Logged[] } & FencesData {
  return isRecord(value) && typeof value['seq'] === 'number' && areTimes(value['updates']) && areTimes(value['drops']);
}

function areTimes(value: unknown): boolean {
  return isRecord(value) && typeof value['floor'] === 'number' && value['byMark'] instanceof Map;
}
