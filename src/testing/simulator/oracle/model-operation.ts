/**
 * Changes by place instead of by vectors: their authors, their order, and what each author had
 * seen.
 */
import type { Effect } from '../../../server/service/records/effect.ts';

/** The number of operations of each list, by ordinal: the red order, then blue ones by origin. */
export type Counts = readonly number[];

/** An operation with its place, which replaces its vector. */
export interface ModelOperation {
  /** The list that it belongs to: that of its origin, or the first one, which is the red order. */
  readonly list: number;
  /** Its place there, counted from 1. */
  readonly place: number;
  /** The operations that were visible where its generator ran. */
  readonly seen: Counts;
  /** The time that decides the last writer. If two are equal, the site decides. */
  readonly time: number;
  readonly site: number;
}

export interface Change {
  readonly by: ModelOperation;
  /** The index among the effects of its operation. */
  readonly index: number;
  readonly effect: Effect;
}

/** The order of the last writer and of logs. Effects of one operation keep theirs. */
export function compareByTime(a: Change, b: Change): number {
  const [item, other] = [a.by, b.by];
  return (
    item.time - other.time ||
    item.site - other.site ||
    // At one site, red operations come after blue ones.
    Number(item.list !== item.site) - Number(other.list !== other.site) ||
    item.list - other.list ||
    item.place - other.place ||
    a.index - b.index
  );
}

/**
 * The order of changes to fields that only red operations change. Places of two red logs cannot be
 * compared. Times can: what overlaps has them in its order.
 */
export function compareByRedOrder(a: Change, b: Change): number {
  const [item, other] = [a.by, b.by];
  const difference = item.list === other.list ? item.place - other.place : item.time - other.time;
  return difference || a.index - b.index;
}

/**
 * Returns whether the operation of `later` had seen `earlier`, or is the same operation at a later
 * index.
 */
export function hasSeen(later: Change, earlier: Change): boolean {
  if (later.by === earlier.by) return earlier.index < later.index;
  return earlier.by.place <= (later.by.seen[earlier.by.list] ?? 0);
}

/** Numbers come before strings. Strings are compared by code units. */
export function compareBySeen(a: string | number, b: string | number): number {
  if (typeof a !== typeof b) return typeof a === 'number' ? -1 : 1;
  return a < b ? -1 : a > b ? 1 : 0;
}

/** The holder of the pool, whichever red log orders the row. */
const POOL = 0;

/** Returns whose rights an operation takes: those of its site, or the pool. */
function getHolder({ list, site }: ModelOperation): number {
  // A preview has no site.
  return list === site || site === 0 ? list : POOL;
}

/** The sum of changes to a bounded field. Numbers are by holder. */
interface ModelLedger extends LedgerSums {
  readonly left: number;
  readonly holdings: ReadonlyMap<number, number>;
}

/** The sums that a model and a site have in common. */
interface LedgerSums {
  readonly value: number;
  readonly grants: number;
  readonly takes: number;
}

/** Counts the rights to a bounded field from all changes to it, directly by docs/spec/rights.md. */
export function createLedger(changes: readonly Change[], min: number): ModelLedger {
  const retained = new Map<number, number>();
  const sums = { grants: 0, takes: 0 };
  const change = (owner: number, amount: number): void =>
    void retained.set(owner, (retained.get(owner) ?? 0) + amount);
  for (const { by, effect } of changes) {
    const { action, value } = effect;
    if (action === 'give') {
      sums.grants += value as number;
      change(by.site, value as number);
    } else if (action === 'take') {
      sums.takes += value as number;
      change(getHolder(by), -(value as number));
    } else {
      const { to, amount } = value as {
        readonly to: number;
        readonly amount: number;
      };
      change(getHolder(by), -amount);
      change(to, amount);
    }
  }
  const left = [...retained.values()].reduce((sum, rights) => sum + rights, 0);
  return { value: min + left, left, holdings: retained, ...sums };
}

/** Returns the ledger that generators at a site read. Without a site, all rights count. */
export function createLedgerView(
  { value, left: all, holdings }: ModelLedger,
  site: number | undefined,
  closed: readonly number[] = [],
): unknown {
  const left = closed.reduce((sum, origin) => sum - (holdings.get(origin) ?? 0), all);
  const rights = site === undefined ? left : (holdings.get(site) ?? 0);
  return { value: value - (all - left), left, rights };
}

/** Returns what is compared of two ledgers, of the model or of a site. */
export function toComparableLedger(ledger: ModelLedger | SiteLedger): unknown {
  const { value, grants: input, takes } = ledger;
  const retained =
    'holdings' in ledger
      ? [...ledger.holdings]
      : ledger.holders.map((item) => [item, ledger.getHolding(item)] as const);
  const some = retained.filter(([, rights]) => rights !== 0).toSorted(([a], [b]) => a - b);
  return { value, given: input, taken: takes, held: some };
}

/** The ledger of a site. */
interface SiteLedger extends LedgerSums {
  readonly holders: readonly number[];
  getHolding(origin: number): number;
}

export function isLedger(value: unknown): value is ModelLedger | SiteLedger {
  return typeof value === 'object' && value !== null && 'takes' in value && 'grants' in value;
}
