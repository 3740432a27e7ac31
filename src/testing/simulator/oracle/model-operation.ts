/**
 * Changes by place, instead of by vectors: their authors, their order, and what
 * each had seen.
 */
import type { Effect } from '../../../server/records/effect.ts';

/**
 * So many operations of each list, by ordinal: of the red order, then blue ones
 * by origin.
 */
export type Counts = readonly number[];

/** An operation, by its place instead of by vectors. */
export interface ModelOperation {
  /**
   * The list that it stands in: that of its origin, or the first one, which is
   * the red order.
   */
  readonly list: number;
  /** Its place there, counted from 1. */
  readonly place: number;
  /** What was visible where its generator ran. */
  readonly seen: Counts;
  /** By which the last write wins: the time, then the site. */
  readonly time: number;
  readonly site: number;
}

export interface Change {
  readonly by: ModelOperation;
  /** Among the effects of its operation. */
  readonly index: number;
  readonly effect: Effect;
}

/**
 * The order of last-writer-wins and of logs; effects of one operation in
 * theirs.
 */
export function compareByTime(a: Change, b: Change): number {
  const [item, other] = [a.by, b.by];
  return (
    item.time - other.time ||
    item.site - other.site ||
    // Of one site, what is red comes after what is blue.
    other.list - item.list ||
    item.place - other.place ||
    a.index - b.index
  );
}

export function compareByPlace(a: Change, b: Change): number {
  return a.by.place - b.by.place || a.index - b.index;
}

/**
 * Whether the operation of `later` had seen `earlier`, or made it itself
 * before.
 */
export function hasSeen(later: Change, earlier: Change): boolean {
  if (later.by === earlier.by) return earlier.index < later.index;
  return earlier.by.place <= (later.by.seen[earlier.by.list] ?? 0);
}

/** Numbers before strings; strings by code units. */
export function compareBySeen(a: string | number, b: string | number): number {
  if (typeof a !== typeof b) return typeof a === 'number' ? -1 : 1;
  return a < b ? -1 : a > b ? 1 : 0;
}

/**
 * What the changes add up to: numbers by the list that they stand in, of which
 * the first is that of the red order.
 */
interface ModelLedger {
  readonly value: number;
  readonly left: number;
  readonly grants: number;
  readonly takes: number;
  readonly holdings: ReadonlyMap<number, number>;
}

/**
 * Rights to a bounded field, counted from all changes to it:
 * docs/spec/rights.md, and nothing clever.
 */
export function createLedger(
  changes: readonly Change[],
  min: number,
): ModelLedger {
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
      change(by.list, -(value as number));
    } else {
      const { to, amount } = value as {
        readonly to: number;
        readonly amount: number;
      };
      change(by.list, -amount);
      change(to, amount);
    }
  }
  const left = [...retained.values()].reduce((sum, rights) => sum + rights, 0);
  return { value: min + left, left, holdings: retained, ...sums };
}

/** As generators at a site read it; of no site, all rights are there. */
export function createLedgerView(
  { value, left: all, holdings }: ModelLedger,
  site: number | undefined,
  closed: readonly number[] = [],
): unknown {
  const left = closed.reduce(
    (sum, origin) => sum - (holdings.get(origin) ?? 0),
    all,
  );
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
  const some = retained
    .filter(([, rights]) => rights !== 0)
    .toSorted(([a], [b]) => a - b);
  return { value, given: input, taken: takes, held: some };
}

/** A ledger as a site has it. */
interface SiteLedger extends Pick<ModelLedger, 'value' | 'grants' | 'takes'> {
  readonly holders: readonly number[];
  getHolding(origin: number): number;
}

export function isLedger(value: unknown): value is ModelLedger | SiteLedger {
  return (
    typeof value === 'object' &&
    value !== null &&
    'takes' in value &&
    'grants' in value
  );
}
