/** Remembers what changed when, so that what was read before, or lags behind, does not come back into a cache. */
import type { Scope } from './scope.ts';
import type { Fence } from './supersede.ts';

/** Times by mark, as plain data; the floor counts for every mark. */
export interface TimesData {
  readonly floor: number;
  readonly byMark: ReadonlyMap<string, number>;
}

/** Fences as plain data. */
export interface FencesData {
  readonly updates: TimesData;
  readonly drops: TimesData;
}

/** `'update'`: by us, so that views from before are never to be shown; `'drop'`: nobody has to see it at once. */
export type ChangeKind = 'update' | 'drop';

export class Fences {
  readonly #updates: Times;
  readonly #drops: Times;

  constructor(marksMax: number, data?: FencesData) {
    this.#updates = new Times(marksMax, data?.updates);
    this.#drops = new Times(marksMax, data?.drops);
  }

  get data(): FencesData {
    return { updates: this.#updates.data, drops: this.#drops.data };
  }

  /** What is in `scope` changed at `time`, which is later than any before. */
  raise(kind: ChangeKind, scope: Scope, time: number): void {
    (kind === 'update' ? this.#updates : this.#drops).raise(scope, time);
    if (kind === 'drop' && scope === undefined) this.#updates.collapse();
  }

  /** Takes over the updates of an earlier counting, as of `time`, unless there is a later one. */
  inherit({ updates }: FencesData, time: number): void {
    this.#updates.inherit(updates, time);
  }

  /** When something with these marks last changed, or may have; 0 for never. */
  latest(marks: readonly string[]): number {
    return Math.max(this.#updates.latest(marks), this.#drops.latest(marks));
  }

  /** What stands between a view and the cache: weaker levels than the strongest lag behind an update for ever. */
  against(marks: readonly string[], { began, isStrongest }: Reading): Fence {
    if (this.#drops.latest(marks) > began) return 'drop';
    const updatedAt = this.#updates.latest(marks);
    return updatedAt > 0 && !(isStrongest && began >= updatedAt) ? 'update' : 'none';
  }
}

/** A view, as far as changes are concerned. */
export interface Reading {
  readonly began: number;
  readonly isStrongest: boolean;
}

/** When something last happened to each mark; what is forgotten counts for all. */
class Times {
  readonly #marksMax: number;
  readonly #byMark: Map<string, number>;
  #floor: number;

  constructor(marksMax: number, { floor, byMark }: TimesData = { floor: 0, byMark: new Map() }) {
    this.#marksMax = marksMax;
    this.#floor = floor;
    this.#byMark = new Map(byMark);
  }

  get data(): TimesData {
    return { floor: this.#floor, byMark: new Map(this.#byMark) };
  }

  raise(scope: Scope, time: number): void {
    if (scope === undefined) {
      this.#byMark.clear();
      this.#floor = time;
      return;
    }
    for (const mark of scope) {
      this.#byMark.delete(mark);
      this.#byMark.set(mark, time);
    }
    this.#forgetOldest();
  }

  /** Names nothing any more: all may have changed when the last of them did. */
  collapse(): void {
    this.#floor = Math.max(this.#floor, ...this.#byMark.values());
    this.#byMark.clear();
  }

  inherit({ floor, byMark }: TimesData, time: number): void {
    if (floor > 0) this.#floor = Math.max(this.#floor, time);
    for (const mark of byMark.keys()) this.#byMark.set(mark, this.#byMark.get(mark) ?? time);
    this.#forgetOldest();
  }

  latest(marks: readonly string[]): number {
    let latest = this.#floor;
    for (const mark of marks) latest = Math.max(latest, this.#byMark.get(mark) ?? 0);
    return latest;
  }

  #forgetOldest(): void {
    for (const [mark, markedAt] of this.#byMark) {
      if (this.#byMark.size <= this.#marksMax) return;
      this.#byMark.delete(mark);
      this.#floor = Math.max(this.#floor, markedAt);
    }
  }
}
