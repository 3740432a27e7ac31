/** Pending effects kept as a plain list: a base for the kinds of field that need no more. */
import type { Effect } from '../../records/effect.ts';
import { OwnedEffects, type Owned } from './owned-effects.ts';

type Listed = readonly { readonly effect: Effect }[];

export abstract class PendingList extends OwnedEffects {
  #entries: Owned[] = [];
  #removals = 0;

  protected add(owned: Owned & { readonly effect: Effect }, base: unknown): unknown {
    const result = this.resultOf(owned.effect, base);
    this.#entries.push(owned);
    return result;
  }

  protected addRemoval(owner: number): void {
    this.#entries.push({ owner, effect: undefined });
    this.#removals += 1;
  }

  protected takeOldest(owner: number): boolean {
    let first = 0;
    while (this.#entries[first]?.owner === owner) first += 1;
    this.#removals -= removalsOf(this.#entries.splice(0, first));
    return first > 0;
  }

  protected keep(isWanted: (owned: Owned) => boolean): readonly Owned[] {
    this.#entries = this.#entries.filter(isWanted);
    this.#removals = removalsOf(this.#entries);
    return this.#entries;
  }

  protected shown(base: unknown): unknown {
    if (this.#removals === 0) return this.show(base, this.#entries as Listed);
    const last = this.#entries.findLastIndex(({ effect }) => effect === undefined);
    return this.show(this.initial, this.#entries.slice(last + 1) as Listed);
  }

  /** The value of a field that was never written. */
  protected abstract readonly initial: unknown;

  /** The value with all of `pending` applied to `base`. */
  protected abstract show(base: unknown, pending: Listed): unknown;

  /** What applying `effect` after the pending ones would return. */
  protected resultOf(_effect: Effect, _base: unknown): unknown {
    return undefined;
  }
}

/** Of assignments the last one counts. */
export class PendingWrites extends PendingList {
  protected readonly initial = undefined;
  protected show(base: unknown, pending: Listed): unknown {
    const last = pending.at(-1);
    return last === undefined ? base : last.effect.value;
  }
}

function removalsOf(entries: readonly Owned[]): number {
  return entries.reduce((count, { effect }) => (effect === undefined ? count + 1 : count), 0);
}
