/** Remembers what changed when, so that what was read before, or lags behind, does not come back into a cache. */
import { Authors, type AuthorsData } from './authors.ts';
import type { Scope } from './scope.ts';
import type { Fence } from './supersede.ts';
import { Times, type TimesData } from './times.ts';

/** Fences as plain data. */
export interface FencesData {
  readonly updates: TimesData;
  readonly drops: TimesData;
  readonly authors: AuthorsData;
}

/** Something that was changed, or is to be forgotten. */
export interface Change {
  /** `'update'`: so that its author is never to be shown what was before; `'drop'`: nobody has to see it at once. */
  readonly kind: 'update' | 'drop';
  readonly scope: Scope;
  /** Who has made an update; anybody, unless given. */
  readonly principal?: string | undefined;
}

export class Fences {
  readonly #updates: Times;
  readonly #drops: Times;
  readonly #authors: Authors;

  constructor(marksMax: number, data?: FencesData) {
    this.#updates = new Times(marksMax, data?.updates);
    this.#drops = new Times(marksMax, data?.drops);
    this.#authors = new Authors(marksMax, data?.authors);
  }

  get data(): FencesData {
    return { updates: this.#updates.data, drops: this.#drops.data, authors: this.#authors.data };
  }

  /** It happened at `time`, which is later than any before. */
  raise({ kind, scope, principal }: Change, time: number): void {
    (kind === 'update' ? this.#updates : this.#drops).raise(scope, time);
    if (kind === 'update') this.#authors.add(principal, scope);
    else if (scope === undefined) this.#updates.collapse();
  }

  /** Takes over from an earlier counting, before all of this one, who had updated what. */
  inherit({ authors }: FencesData): void {
    this.#authors.join(authors);
  }

  /** When something with these marks last changed, or may have; 0 for never. */
  latest(marks: readonly string[]): number {
    return Math.max(this.#updates.latest(marks), this.#drops.latest(marks));
  }

  /** What stands between a view and the cache: weaker levels than the strongest lag behind an own update for ever. */
  against(marks: readonly string[], { principal, began, isStrongest }: Reading): Fence {
    if (this.#drops.latest(marks) > began) return 'drop';
    const isBefore = this.#updates.latest(marks) > began;
    return isBefore || (!isStrongest && this.#authors.has(principal, marks)) ? 'update' : 'none';
  }
}

/** A view, as far as changes are concerned. */
export interface Reading {
  /** Whose it is. */
  readonly principal: string;
  readonly began: number;
  readonly isStrongest: boolean;
}
