/** Pending effects in a plain list, for kinds of field that need no more. */
import type { Effect } from '../records/effect.ts';
import { OwnedEffects, type OwnedEffect } from './owned-effects.ts';

type ListedEffect = readonly { readonly effect: Effect }[];

export abstract class PendingList extends OwnedEffects {
  #entries: OwnedEffect[] = [];
  #removals = 0;

  protected add(owned: OwnedEffect & { readonly effect: Effect }, base: unknown): unknown {
    const result = this.computeResult(owned.effect, base);
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
    this.#removals -= countRemovals(this.#entries.splice(0, first));
    return first > 0;
  }

  protected filter(isWanted: (owned: OwnedEffect) => boolean): readonly OwnedEffect[] {
    this.#entries = this.#entries.filter(isWanted);
    this.#removals = countRemovals(this.#entries);
    return this.#entries;
  }

  protected getValue(base: unknown): unknown {
    if (this.#removals === 0) return this.computeValue(base, this.#entries as ListedEffect);
    const last = this.#entries.findLastIndex(({ effect }) => effect === undefined);
    return this.computeValue(this.initial, this.#entries.slice(last + 1) as ListedEffect);
  }

  /** The value of a field that was never written. */
  protected abstract readonly initial: unknown;

  protected abstract computeValue(base: unknown, pending: ListedEffect): unknown;

  /** What applying `effect` after the pending ones would return. */
  protected computeResult(_effect: Effect, _base: unknown): unknown {
    return undefined;
  }
}

/** For assignments, only the last one counts. */
export class PendingWrites extends PendingList {
  protected readonly initial = undefined;
  protected computeValue(base: unknown, pending: ListedEffect): unknown {
    const last = pending.at(-1);
    return last === undefined ? base : last.effect.value;
  }
}

function countRemovals(entries: readonly OwnedEffect[]): number {
  return entries.reduce((count, { effect }) => (effect === undefined ? count + 1 : count), 0);
}
