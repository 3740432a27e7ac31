/**
 * Effects in flight on one field, in order. If an operation ends in the middle, it is only noted,
 * and its effects are removed at the next read. So many operations that end together cost one pass
 * or two.
 */
import type { Effect } from '../records/effect.ts';
import { Fifo } from '../collections/fifo.ts';

/** The effect of an operation in flight; `undefined` for the removal of the row. */
export interface OwnedEffect {
  readonly owner: number;
  readonly effect: Effect | undefined;
}

/** At most this many ended owners are kept until the next read. */
const MAX_ENDED_OWNERS = 64;

export abstract class OwnedEffects {
  /** Number of runs of effects with one owner, ended ones included. */
  #owners = 0;
  #newest: number | undefined;
  /** Ended owners whose effects are still held. Usually there are none. */
  #ended: Set<number> | undefined;

  get isEmpty(): boolean {
    if (this.#ended !== undefined && this.#ended.size >= this.#owners) this.removeEnded();
    return this.#owners === 0;
  }

  /** Adds an effect at the end and returns its result, given the committed value `base`. */
  append(owner: number, effect: Effect, base: unknown): unknown {
    this.#restartOwner(owner);
    const result = this.add({ owner, effect }, base);
    this.#count(owner);
    return result;
  }

  /** Adds the removal of the row at the end. The field then has its initial value. */
  clear(owner: number): void {
    this.#restartOwner(owner);
    this.addRemoval(owner);
    this.#count(owner);
  }

  /** Removes the effects of `owner`. */
  remove(owner: number): void {
    if (this.#ended === undefined && this.takeOldest(owner)) {
      this.#owners -= 1;
      if (this.#owners === 0) this.#newest = undefined;
      return;
    }
    this.#ended ??= new Set();
    this.#ended.add(owner);
    if (this.#ended.size > MAX_ENDED_OWNERS && this.#ended.size * 2 > this.#owners)
      this.removeEnded();
  }

  /** Returns the value after all of these are applied to `base`. */
  applyTo(base: unknown): unknown {
    this.removeEnded();
    return this.getValue(base);
  }

  protected removeEnded(): void {
    const ended = this.#ended;
    if (ended === undefined) return;
    this.#ended = undefined;
    this.#owners = 0;
    this.#newest = undefined;
    for (const { owner } of this.filter(({ owner }) => !ended.has(owner))) this.#count(owner);
  }

  protected abstract add(owned: OwnedEffect & { readonly effect: Effect }, base: unknown): unknown;

  protected abstract addRemoval(owner: number): void;

  /** Removes the effects of `owner` if they are the oldest. Returns whether they are. */
  protected abstract takeOldest(owner: number): boolean;

  /** Removes the effects that are not wanted. Returns the remaining ones. */
  protected abstract filter(isWanted: (owned: OwnedEffect) => boolean): readonly OwnedEffect[];

  /** As `applyTo`, after the effects of ended owners are removed. */
  protected abstract getValue(base: unknown): unknown;

  /** An owner that ended may come again. Its earlier effects are removed first. */
  #restartOwner(owner: number): void {
    if (this.#ended?.has(owner) === true) this.removeEnded();
  }

  #count(owner: number): void {
    if (owner === this.#newest) return;
    this.#newest = owner;
    this.#owners += 1;
  }
}

/**
 * Effects in flight on one field, oldest first, for kinds of field whose effects come and go at the
 * ends.
 */
export class OwnedFifo {
  #entries = new Fifo<OwnedEffect>();

  get size(): number {
    return this.#entries.size;
  }

  push(owned: OwnedEffect): void {
    this.#entries.push(owned);
  }

  at(index: number): OwnedEffect | undefined {
    return this.#entries.at(index);
  }

  all(): readonly OwnedEffect[] {
    return this.#entries.slice();
  }

  /**
   * Removes the effects of `owner` if they are the oldest, and passes each to `taken`. Returns
   * whether they are.
   */
  takeOldest(owner: number, taken: (owned: OwnedEffect) => void): boolean {
    if (this.#entries.at(0)?.owner !== owner) return false;
    while (this.#entries.at(0)?.owner === owner) taken(this.#entries.shift() as OwnedEffect);
    return true;
  }

  filter(isWanted: (owned: OwnedEffect) => boolean): readonly OwnedEffect[] {
    const remaining = this.all().filter(isWanted);
    this.#entries = new Fifo(remaining);
    return remaining;
  }
}

/** Effects in flight for which sums are enough. */
export abstract class SummedEffects extends OwnedEffects {
  protected readonly pending = new OwnedFifo();

  /** Counts an effect that comes, or one that goes. */
  protected abstract count(owned: OwnedEffect, sign: 1 | -1): void;

  protected add(owned: OwnedEffect): undefined {
    this.pending.push(owned);
    this.count(owned, 1);
  }

  protected addRemoval(owner: number): void {
    this.add({ owner, effect: undefined });
  }

  protected takeOldest(owner: number): boolean {
    return this.pending.takeOldest(owner, (owned) => this.count(owned, -1));
  }

  protected filter(isWanted: (owned: OwnedEffect) => boolean): readonly OwnedEffect[] {
    return this.pending.filter((owned) => {
      if (isWanted(owned)) return true;
      this.count(owned, -1);
      return false;
    });
  }
}
