/**
 * How much of a bounded field each origin may take (docs/spec/rights.md): rights + pool + taken =
 * given.
 */
import { RED, type Origin } from '../records/origin.ts';
import { STATE_BYTES } from '../records/memory-bytes.ts';
import { subtractExact, addExact, toPlainSum, type ExactSum } from './exact-sum.ts';

/** A bounded field, as generators and invariants read it. */
export interface BoundedView {
  /** The current value, never below the minimum. */
  readonly value: number;
  /** The amount above the minimum: all that sites together can still take. */
  readonly left: number;
  /** How much of it this site may take by itself. Outside of sites: all of it. */
  readonly rights: number;
}

/** The exact amounts, which numbers would round. */
interface ExactLedger extends LedgerChange {
  readonly left: ExactSum;
  readonly pool: ExactSum;
}

/** What is granted and taken: in all, or by effects that are tried. */
interface LedgerChange {
  readonly grants: ExactSum;
  readonly takes: ExactSum;
}

/** A ledger as a replica reads it. */
export abstract class Ledger implements BoundedView {
  abstract readonly min: number;
  /** The origins that hold rights or have held some, by ordinal. */
  abstract readonly holders: readonly Origin[];
  abstract readonly exact: ExactLedger;

  abstract getHolding(origin: Origin): number;

  get left(): number {
    return Number(this.exact.left);
  }

  get value(): number {
    return this.min + this.left;
  }

  get rights(): number {
    return this.left;
  }

  /** The rights of the red order. */
  get pool(): number {
    return Number(this.exact.pool);
  }

  get grants(): number {
    return Number(this.exact.grants);
  }

  get takes(): number {
    return Number(this.exact.takes);
  }
}

export type SavedLedger = readonly [
  held: readonly (readonly [origin: Origin, rights: ExactSum])[],
  given: ExactSum,
  taken: ExactSum,
];

/** A ledger that changes. All its changes commute. */
export class LedgerState extends Ledger {
  readonly min: number;
  readonly #holdings: Map<Origin, ExactSum>;
  #grants: ExactSum;
  #taken: ExactSum;

  constructor(min: number, [retained, value, taken]: SavedLedger = [[], 0, 0]) {
    super();
    this.min = min;
    this.#holdings = new Map(retained);
    this.#grants = value;
    this.#taken = taken;
  }

  get exact(): ExactLedger {
    const pool = this.#holdings.get(RED) ?? 0;
    return { left: this.#left, pool, grants: this.#grants, takes: this.#taken };
  }

  override get left(): number {
    return Number(this.#left);
  }

  override get pool(): number {
    return this.getHolding(RED);
  }

  get holders(): readonly Origin[] {
    return [...this.#holdings.keys()].toSorted((a, b) => a - b);
  }

  getHolding(origin: Origin): number {
    return Number(this.#holdings.get(origin) ?? 0);
  }

  get bytes(): number {
    return 5 * STATE_BYTES + STATE_BYTES * this.#holdings.size;
  }

  /** Adds rights for this origin. */
  give(origin: Origin, amount: number): void {
    this.#grants = addExact(this.#grants, amount);
    this.#add(origin, amount);
  }

  /** Uses rights of this origin. */
  take(origin: Origin, amount: number): void {
    this.#taken = addExact(this.#taken, amount);
    this.#add(origin, -amount);
  }

  transfer(from: Origin, { to, amount }: { readonly to: Origin; readonly amount: number }): void {
    this.#add(from, -amount);
    this.#add(to, amount);
  }

  /** Returns equal plain data for equal ledgers, which JSON can carry. */
  snapshot(): unknown {
    const retained = this.holders.flatMap((origin) => {
      const rights = this.#holdings.get(origin) ?? 0;
      return rights === 0 ? [] : [[origin, toPlainSum(rights)]];
    });
    return [retained, toPlainSum(this.#grants), toPlainSum(this.#taken)];
  }

  save(): SavedLedger {
    return [[...this.#holdings], this.#grants, this.#taken];
  }

  get #left(): ExactSum {
    return subtractExact(this.#grants, this.#taken);
  }

  #add(origin: Origin, amount: number): void {
    this.#holdings.set(origin, addExact(this.#holdings.get(origin) ?? 0, amount));
  }
}

/**
 * A ledger below the effects in flight: red takes, which use the pool, and amounts that are given.
 */
export class LedgerOverlay extends Ledger {
  readonly exact: ExactLedger;
  readonly #base: Ledger;

  /** @param sums the sums of the effects in flight */
  constructor(base: Ledger, { grants, takes }: LedgerChange) {
    super();
    const { exact } = base;
    this.#base = base;
    this.exact = {
      left: subtractExact(addExact(exact.left, grants), takes),
      // An amount that is being given has no owner until it is applied.
      pool: subtractExact(exact.pool, takes),
      grants: addExact(exact.grants, grants),
      takes: addExact(exact.takes, takes),
    };
  }

  get min(): number {
    return this.#base.min;
  }

  get holders(): readonly Origin[] {
    return this.#base.holders;
  }

  getHolding(origin: Origin): number {
    return origin === RED ? this.pool : this.#base.getHolding(origin);
  }
}

/**
 * Returns what can still be taken. Rights of closed sites count as used, since no site may take
 * them.
 */
export function getLeft(ledger: Ledger, closed: readonly Origin[]): number {
  let { left } = ledger;
  for (const origin of closed) left -= ledger.getHolding(origin);
  return left;
}

/** Returns a copy for a generator, since the ledger changes. */
export function createBoundedView(
  ledger: Ledger,
  site: Origin | undefined,
  closed: readonly Origin[] = [],
): BoundedView {
  const left = getLeft(ledger, closed);
  const rights = site === undefined ? left : ledger.getHolding(site);
  return Object.freeze({
    value: ledger.value - (ledger.left - left),
    left,
    rights,
  });
}
