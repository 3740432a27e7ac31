/**
 * Pushes and pops in flight over a queue, at a constant cost each, however many there are and however the committed
 * queue moves below them.
 *
 * A run of pushes and pops turns a length L into max(L + shift, floor), and such functions compose. Since items leave
 * in the order in which they came, what is left are the last items of (committed ++ pushed). So the length is all that
 * has to be known, and it comes from a composition over a sliding window (two stacks: amortised constant).
 */
import { Fifo } from '../../collections/fifo.ts';
import type { Effect } from '../../records/effect.ts';
import { handedOut } from '../../../values/frozen.ts';
import { OwnedEffects, type Owned } from './owned-effects.ts';

/** A queue as generators see it: valid until the generator returns. */
export interface QueueView<T = unknown> {
  readonly size: number;
  /** The item at `index`, counted from the one that a `pop` would take; `undefined` outside. */
  at(index: number): T | undefined;
}

/** What a `pop` took. */
export type Popped<T = unknown> =
  | { readonly found: true; readonly item: T; readonly remaining: number }
  | { readonly found: false; readonly remaining: 0 };

/** What a `push` left. */
export interface Pushed {
  readonly size: number;
}

/** L → max(L + shift, floor). */
interface LengthChange {
  readonly shift: number;
  readonly floor: number;
}

const NOTHING: LengthChange = { shift: 0, floor: 0 };
const PUSH: LengthChange = { shift: 1, floor: 1 };
const POP: LengthChange = { shift: -1, floor: 0 };
const CLEAR: LengthChange = { shift: -Infinity, floor: 0 };

function changeOf(effect: Effect | undefined): LengthChange {
  if (effect === undefined) return CLEAR;
  return effect.action === 'push' ? PUSH : POP;
}

function compose(first: LengthChange, second: LengthChange): LengthChange {
  return { shift: first.shift + second.shift, floor: Math.max(first.floor + second.shift, second.floor) };
}

/** Pending pushes and pops of one queue. */
export class PendingQueue extends OwnedEffects {
  /** The older part, oldest last; each with the composition from it to the newest of this part. */
  #older: { readonly pending: Owned; readonly change: LengthChange }[] = [];
  /** The newer part, oldest first, and its composition. */
  #newer: Owned[] = [];
  #newerChange: LengthChange = NOTHING;
  #pushed = new Fifo<unknown>();

  override over(base: unknown): QueueView {
    return super.over(base) as QueueView;
  }

  protected add(owned: Owned & { readonly effect: Effect }, base: unknown): Popped | Pushed {
    const { effect } = owned;
    const result = this.#resultOf(effect, base as QueueView);
    this.#push(owned);
    if (effect.action === 'push') this.#pushed.push(effect.value);
    return result;
  }

  protected addRemoval(owner: number): void {
    this.#push({ owner, effect: undefined });
  }

  protected takeOldest(owner: number): boolean {
    if (this.#older.length === 0) this.#turnOver();
    if (this.#older.at(-1)?.pending.owner !== owner) return false;
    while (this.#older.at(-1)?.pending.owner === owner) {
      const oldest = this.#older.pop();
      if (oldest?.pending.effect?.action === 'push') this.#pushed.shift();
      if (this.#older.length === 0) this.#turnOver();
    }
    return true;
  }

  protected keep(isWanted: (owned: Owned) => boolean): readonly Owned[] {
    const rest = [...this.#older.map(({ pending }) => pending).toReversed(), ...this.#newer].filter(isWanted);
    this.#older = [];
    this.#newer = rest;
    this.#newerChange = rest.reduce((change, { effect }) => compose(change, changeOf(effect)), NOTHING);
    const pushes = rest.filter(({ effect }) => effect?.action === 'push');
    this.#pushed = new Fifo(pushes.map(({ effect }) => effect?.value));
    return rest;
  }

  protected shown(base: unknown): QueueView {
    const committed = base as QueueView;
    const total = committed.size + this.#pushed.size;
    const size = this.#sizeOver(committed);
    const at = (index: number): unknown => {
      if (index < 0 || index >= size) return undefined;
      const place = total - size + index;
      return place < committed.size ? committed.at(place) : handedOut(this.#pushed.at(place - committed.size));
    };
    return { size, at };
  }

  #push(pending: Owned): void {
    this.#newer.push(pending);
    this.#newerChange = compose(this.#newerChange, changeOf(pending.effect));
  }

  #sizeOver(committed: QueueView): number {
    const { shift, floor } = compose(this.#older.at(-1)?.change ?? NOTHING, this.#newerChange);
    return Math.max(committed.size + shift, floor);
  }

  #resultOf(effect: Effect, committed: QueueView): Popped | Pushed {
    const view = this.over(committed);
    if (effect.action === 'push') return { size: view.size + 1 };
    if (view.size === 0) return { found: false, remaining: 0 };
    return { found: true, item: view.at(0), remaining: view.size - 1 };
  }

  #turnOver(): void {
    let change = NOTHING;
    for (const pending of this.#newer.toReversed()) {
      change = compose(changeOf(pending.effect), change);
      this.#older.push({ pending, change });
    }
    this.#newer = [];
    this.#newerChange = NOTHING;
  }
}
