/**
 * Who may take how much of a bounded field (docs/spec/rights.md). Each right belongs to one origin: to a site, or to the red
 * order, whose rights are the pool. At every site, at all times: rights + pool + taken = given.
 */
import { RED, type Origin } from '../../records/origin.ts';
import { minus, plus, shownSum, type Sum } from './sum.ts';

/** A bounded field as generators and invariants read it. */
export interface BoundedView {
  /** What stands: never below the minimum. */
  readonly value: number;
  /** What stands above the minimum: so much can be taken, somewhere. */
  readonly left: number;
  /** How much of it the site that asks may take by itself; all of it, outside of sites. */
  readonly rights: number;
}

/** What numbers would round, exactly. */
interface ExactLedger {
  readonly left: Sum;
  readonly pool: Sum;
  readonly given: Sum;
  readonly taken: Sum;
}

/** A ledger as a replica reads it. */
export interface Ledger extends BoundedView {
  readonly min: number;
  /** The rights of the red order. */
  readonly pool: number;
  readonly given: number;
  readonly taken: number;
  /** What an origin holds. */
  at(origin: Origin): number;
  /** Those who hold something or have held it, by ordinal. */
  readonly holders: readonly Origin[];
  readonly exact: ExactLedger;
}

/** A ledger as it is saved. */
export type SavedLedger = readonly [held: readonly (readonly [origin: Origin, rights: Sum])[], given: Sum, taken: Sum];

/** A ledger that changes. All its changes commute. */
export class LedgerState implements Ledger {
  readonly min: number;
  readonly #held: Map<Origin, Sum>;
  #given: Sum;
  #taken: Sum;

  constructor(min: number, [held, given, taken]: SavedLedger = [[], 0, 0]) {
    this.min = min;
    this.#held = new Map(held);
    this.#given = given;
    this.#taken = taken;
  }

  get exact(): ExactLedger {
    const pool = this.#held.get(RED) ?? 0;
    return { left: this.#left, pool, given: this.#given, taken: this.#taken };
  }

  get left(): number {
    return Number(this.#left);
  }

  get value(): number {
    return this.min + this.left;
  }

  get rights(): number {
    return this.left;
  }

  get pool(): number {
    return this.at(RED);
  }

  get given(): number {
    return Number(this.#given);
  }

  get taken(): number {
    return Number(this.#taken);
  }

  get holders(): readonly Origin[] {
    return [...this.#held.keys()].toSorted((a, b) => a - b);
  }

  at(origin: Origin): number {
    return Number(this.#held.get(origin) ?? 0);
  }

  /** More rights, for this origin. */
  give(origin: Origin, amount: number): void {
    this.#given = plus(this.#given, amount);
    this.#add(origin, amount);
  }

  /** Rights of this origin are used. */
  take(origin: Origin, amount: number): void {
    this.#taken = plus(this.#taken, amount);
    this.#add(origin, -amount);
  }

  transfer(from: Origin, to: Origin, amount: number): void {
    this.#add(from, -amount);
    this.#add(to, amount);
  }

  /** Equal for equal ledgers, as JSON too. */
  shown(): unknown {
    const held = this.holders.flatMap((origin) => {
      const rights = this.#held.get(origin) ?? 0;
      return rights === 0 ? [] : [[origin, shownSum(rights)]];
    });
    return [held, shownSum(this.#given), shownSum(this.#taken)];
  }

  save(): SavedLedger {
    return [[...this.#held], this.#given, this.#taken];
  }

  get #left(): Sum {
    return minus(this.#given, this.#taken);
  }

  #add(origin: Origin, amount: number): void {
    this.#held.set(origin, plus(this.#held.get(origin) ?? 0, amount));
  }
}

/** What is in flight on a ledger. */
type InFlightSums = Pick<ExactLedger, 'given' | 'taken'>;

/** A ledger with what is in flight laid over it: takes of red operations, which draw on the pool, and what is given. */
export class LedgerOver implements Ledger {
  readonly exact: ExactLedger;
  readonly #base: Ledger;

  constructor(base: Ledger, { given, taken }: InFlightSums) {
    const { exact } = base;
    this.#base = base;
    this.exact = {
      left: minus(plus(exact.left, given), taken),
      // What is given is nobody's before it is applied.
      pool: minus(exact.pool, taken),
      given: plus(exact.given, given),
      taken: plus(exact.taken, taken),
    };
  }

  get min(): number {
    return this.#base.min;
  }

  get left(): number {
    return Number(this.exact.left);
  }

  get value(): number {
    return this.min + this.left;
  }

  get rights(): number {
    return this.left;
  }

  get pool(): number {
    return Number(this.exact.pool);
  }

  get given(): number {
    return Number(this.exact.given);
  }

  get taken(): number {
    return Number(this.exact.taken);
  }

  get holders(): readonly Origin[] {
    return this.#base.holders;
  }

  at(origin: Origin): number {
    return origin === RED ? this.pool : this.#base.at(origin);
  }
}

/** As a generator at a site reads it: a copy, since it changes. */
export function viewAt(ledger: Ledger, site: Origin | undefined): BoundedView {
  const { value, left } = ledger;
  const rights = site === undefined ? left : ledger.at(site);
  return Object.freeze({ value, left, rights });
}
