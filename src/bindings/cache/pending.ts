/** What a cache wants written and its store has not taken yet: of each view the last change only, and not more than it may. */
import type { Change } from './fences.ts';
import { marksOf, type Scope } from './scope.ts';
import type { Batch } from './transaction.ts';
import { approximateBytes } from '../../values/size.ts';
import type { CachedView } from './view-cache.ts';

/** More changes than this that the store does not take are given up: it is told that all may have changed. */
const PENDING_MAX = 10_000;

/** Nothing tells any more what has changed. */
export const ALL: Change = { kind: 'drop', scope: undefined };

/** Nor by whom. */
export const ANY_UPDATE: Change = { kind: 'update', scope: undefined };

export class Pending implements Batch {
  readonly views = new Map<string, CachedView | undefined>();
  #changes: Change[] = [];
  /** Whether memory has a view under `id`. */
  readonly #isKnown: (id: string) => boolean;

  constructor(isKnown: (id: string) => boolean) {
    this.#isKnown = isKnown;
  }

  get changes(): readonly Change[] {
    return this.#changes;
  }

  get isEmpty(): boolean {
    return this.views.size === 0 && this.#changes.length === 0;
  }

  /** A view is to be filed, or removed. */
  file(id: string, view: CachedView | undefined): void {
    this.views.set(id, view);
    if (this.views.size > PENDING_MAX) this.#giveUpViews();
  }

  /** What was read before of what has changed is not to be found any more. */
  add(...changes: readonly Change[]): void {
    for (const change of changes) this.#withdraw(change);
    this.#changes.push(...changes);
    if (this.#changes.length > PENDING_MAX) this.#changes = [ALL, ...authorsOf(this.#changes)];
  }

  /** The store has refused what was to be written before this: what has changed since counts. */
  putBack(refused: Pending): void {
    const since = [...this.views];
    this.views.clear();
    for (const [id, view] of refused.views) this.views.set(id, view);
    for (const change of this.#changes) this.#withdraw(change);
    for (const [id, view] of since) this.views.set(id, view);
    this.#changes = [...refused.#changes, ...this.#changes];
  }

  /** Of the views that are chosen no more is left than that what the store has of them is removed. */
  empty(isChosen: (id: string) => boolean): void {
    for (const [id, view] of this.views) if (view !== undefined && isChosen(id)) this.views.set(id, undefined);
  }

  /** Where there are more than about so many bytes, they are not filed; where removing them takes more, all are given up. */
  bound(bytesMax: number): void {
    if (this.#bytes() > bytesMax) this.empty(() => true);
    if (this.#bytes() > bytesMax) this.#giveUpViews();
  }

  #bytes(): number {
    let bytes = 0;
    for (const [id, view] of this.views) bytes += approximateBytes(id) + approximateBytes(view?.entry);
    return bytes;
  }

  #giveUpViews(): void {
    this.views.clear();
    this.#changes.push(ALL);
  }

  /** What a change reaches is not to be filed in the same transaction as if it came after it. */
  #withdraw({ scope }: Change): void {
    for (const [id, view] of this.views) {
      // What memory has had it has taken away itself, and has what came after; of a former principal it has nothing.
      if (view === undefined || this.#isKnown(id)) continue;
      if (reaches(scope, marksOf(id, view.entry.touches))) this.views.set(id, undefined);
    }
  }
}

/** Whoever has updated something may have updated everything. */
function authorsOf(changes: readonly Change[]): Change[] {
  const updates = changes.filter(({ kind }) => kind === 'update');
  const authors = new Set(updates.map(({ principal }) => principal));
  return Array.from(authors, (principal) => ({ ...ANY_UPDATE, principal }));
}

function reaches(scope: Scope, marks: readonly string[]): boolean {
  return scope === undefined || marks.some((mark) => scope.includes(mark));
}
