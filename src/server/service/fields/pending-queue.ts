/**
 * Pushes and pops in flight over a queue. Each has a constant cost, no matter how many there are
 * and how the committed queue below them changes.
 *
 * A run of pushes and pops turns a length L into max(L + shift, minLength), and such functions
 * compose. Items leave in the order in which they came, so the remaining ones are the last items of
 * (committed ++ pushed). So only the length must be known. It comes from a composition over a
 * sliding window (two stacks: amortized constant).
 */
import { Fifo } from '../collections/fifo.ts';
import type { Effect } from '../records/effect.ts';
import { freezeForUser } from '../../../values/deep-freeze.ts';
import { OwnedEffects, type OwnedEffect } from './owned-effects.ts';

/** A queue, as generators read it. It is valid until the generator returns. */
export interface QueueView<T = unknown> {
  readonly size: number;
  /** Returns the item at `index`, or `undefined` if there is none. `pop` takes index 0. */
  at(index: number): T | undefined;
}

/** Result of a `pop`. */
export type PopResult<T = unknown> =
  | { readonly found: true; readonly item: T; readonly remaining: number }
  | { readonly found: false; readonly remaining: 0 };

/** Result of a `push`. */
export interface PushResult {
  readonly size: number;
}

/** The change of a length: L → max(L + shift, minLength). */
interface LengthChange {
  readonly shift: number;
  readonly minLength: number;
}

const NO_CHANGE: LengthChange = { shift: 0, minLength: 0 };
const PUSH: LengthChange = { shift: 1, minLength: 1 };
const POP: LengthChange = { shift: -1, minLength: 0 };
const CLEAR: LengthChange = { shift: -Infinity, minLength: 0 };

function getLengthChange(effect: Effect | undefined): LengthChange {
  if (effect === undefined) return CLEAR;
  return effect.action === 'push' ? PUSH : POP;
}

function composeChanges(first: LengthChange, second: LengthChange): LengthChange {
  return {
    shift: first.shift + second.shift,
    minLength: Math.max(first.minLength + second.shift, second.minLength),
  };
}

/** Pending pushes and pops of one queue. */
export class PendingQueue extends OwnedEffects {
  /**
   * The older part, newest first. Each entry has the composition from it to the newest of this
   * part.
   */
  #older: { readonly pending: OwnedEffect; readonly change: LengthChange }[] = [];
  /** The newer part, oldest first, and its composition. */
  #newer: OwnedEffect[] = [];
  #newerChange: LengthChange = NO_CHANGE;
  #pushed = new Fifo<unknown>();

  override applyTo(base: unknown): QueueView {
    return super.applyTo(base) as QueueView;
  }

  protected add(
    owned: OwnedEffect & { readonly effect: Effect },
    base: unknown,
  ): PopResult | PushResult {
    const { effect } = owned;
    const result = this.#computeResult(effect, base as QueueView);
    this.#push(owned);
    if (effect.action === 'push') this.#pushed.push(effect.value);
    return result;
  }

  protected addRemoval(owner: number): void {
    this.#push({ owner, effect: undefined });
  }

  protected takeOldest(owner: number): boolean {
    if (this.#older.length === 0) this.#moveNewerToOlder();
    if (this.#older.at(-1)?.pending.owner !== owner) return false;
    while (this.#older.at(-1)?.pending.owner === owner) {
      const oldest = this.#older.pop();
      if (oldest?.pending.effect?.action === 'push') this.#pushed.shift();
      if (this.#older.length === 0) this.#moveNewerToOlder();
    }
    return true;
  }

  filter(isWanted: (owned: OwnedEffect) => boolean): readonly OwnedEffect[] {
    const remaining = [
      ...this.#older.map(({ pending }) => pending).toReversed(),
      ...this.#newer,
    ].filter(isWanted);
    this.#older = [];
    this.#newer = remaining;
    this.#newerChange = remaining.reduce(
      (change, { effect }) => composeChanges(change, getLengthChange(effect)),
      NO_CHANGE,
    );
    const pushes = remaining.filter(({ effect }) => effect?.action === 'push');
    this.#pushed = new Fifo(pushes.map(({ effect }) => effect?.value));
    return remaining;
  }

  protected getValue(base: unknown): QueueView {
    const committed = base as QueueView;
    const total = committed.size + this.#pushed.size;
    const size = this.#computeSize(committed);
    const at = (index: number): unknown => {
      if (index < 0 || index >= size) return undefined;
      const position = total - size + index;
      return position < committed.size
        ? committed.at(position)
        : freezeForUser(this.#pushed.at(position - committed.size));
    };
    return { size, at };
  }

  #push(pending: OwnedEffect): void {
    this.#newer.push(pending);
    this.#newerChange = composeChanges(this.#newerChange, getLengthChange(pending.effect));
  }

  #computeSize(committed: QueueView): number {
    const { shift, minLength } = composeChanges(
      this.#older.at(-1)?.change ?? NO_CHANGE,
      this.#newerChange,
    );
    return Math.max(committed.size + shift, minLength);
  }

  #computeResult(effect: Effect, committed: QueueView): PopResult | PushResult {
    const view = this.applyTo(committed);
    if (effect.action === 'push') return { size: view.size + 1 };
    if (view.size === 0) return { found: false, remaining: 0 };
    return { found: true, item: view.at(0), remaining: view.size - 1 };
  }

  #moveNewerToOlder(): void {
    let change = NO_CHANGE;
    for (const pending of this.#newer.toReversed()) {
      change = composeChanges(getLengthChange(pending.effect), change);
      this.#older.push({ pending, change });
    }
    this.#newer = [];
    this.#newerChange = NO_CHANGE;
  }
}
