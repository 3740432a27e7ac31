/**
 * Collects the changes that a cache has not written to its store yet: the last change of each view,
 * up to a limit.
 */
import type { Invalidation } from '../invalidation-log.ts';
import { getTags } from '../tags.ts';
import type { WriteBatch } from './store-transaction.ts';
import { estimateBytes } from '../../../values/estimate-bytes.ts';
import type { CachedView } from '../view-cache.ts';

/**
 * Above this number, pending changes are dropped, and the store gets one change that invalidates
 * everything.
 */
const MAX_PENDING_CHANGES = 10_000;

/** Invalidates everything. Used if it is unknown what has changed. */
export const INVALIDATE_ALL: Invalidation = { kind: 'drop', scope: undefined };

/**
 * An update of everything by any principal. Used if it is unknown both what has changed and who
 * changed it.
 */
export const ANY_WRITE: Invalidation = { kind: 'write', scope: undefined };

export class UnsavedChanges implements WriteBatch {
  readonly views = new Map<string, CachedView | undefined>();
  invalidations: Invalidation[] = [];
  readonly #isKnown: (id: string) => boolean;

  constructor(isKnown: (id: string) => boolean) {
    this.#isKnown = isKnown;
  }

  get isEmpty(): boolean {
    return this.views.size === 0 && this.invalidations.length === 0;
  }

  setView(id: string, view: CachedView | undefined): void {
    this.views.set(id, view);
    if (this.views.size > MAX_PENDING_CHANGES) this.#discardViews();
  }

  /** Adds changes. Views from before these changes must not be returned any more. */
  add(...changes: readonly Invalidation[]): void {
    for (const change of changes) this.#removeInvalidated(change);
    this.invalidations.push(...changes);
    if (this.invalidations.length > MAX_PENDING_CHANGES)
      this.invalidations = [INVALIDATE_ALL, ...mergeAuthors(this.invalidations)];
  }

  /** Adds the rejected changes of an earlier batch. Later changes take precedence. */
  restoreRejected(refused: UnsavedChanges): void {
    const since = [...this.views];
    this.views.clear();
    for (const [id, view] of refused.views) this.views.set(id, view);
    for (const change of this.invalidations) this.#removeInvalidated(change);
    for (const [id, view] of since) this.views.set(id, view);
    this.invalidations = [...refused.invalidations, ...this.invalidations];
  }

  /** Replaces the selected views by their removal. */
  removeChosen(isChosen: (id: string) => boolean): void {
    for (const [id, view] of this.views)
      if (view !== undefined && isChosen(id)) this.views.set(id, undefined);
  }

  /**
   * Drops the views if they take more than this number of bytes. If even their removal takes more,
   * drops all changes.
   */
  limitBytes(maxBytes: number): void {
    if (this.#countBytes() > maxBytes) this.removeChosen(() => true);
    if (this.#countBytes() > maxBytes) this.#discardViews();
  }

  #countBytes(): number {
    let bytes = 0;
    for (const [id, view] of this.views) bytes += estimateBytes(id) + estimateBytes(view?.entry);
    return bytes;
  }

  #discardViews(): void {
    this.views.clear();
    this.invalidations.push(INVALIDATE_ALL);
  }

  /**
   * A change and the views that it invalidates must not be in one transaction, because the views
   * would count as later.
   */
  #removeInvalidated({ scope }: Invalidation): void {
    for (const [id, view] of this.views) {
      // Skip views that memory may hold: memory has removed the invalidated ones already, and may
      // hold later ones. It holds no views of a former principal.
      if (view === undefined || this.#isKnown(id)) continue;
      const isReached =
        scope === undefined || getTags(id, view.entry.touches).some((tag) => scope.includes(tag));
      if (isReached) this.views.set(id, undefined);
    }
  }
}

/** Returns the authors of merged changes. Each author counts as having updated everything. */
function mergeAuthors(changes: readonly Invalidation[]): Invalidation[] {
  const updates = changes.filter(({ kind }) => kind === 'write');
  const authors = new Set(updates.map(({ principal }) => principal));
  return Array.from(authors, (principal) => ({ ...ANY_WRITE, principal }));
}
