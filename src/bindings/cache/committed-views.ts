/**
 * The rules of coherence: what of an operation's views enters the cache, and what leaves it (Correctables, OSDI 2016,
 * §5.2: write-through).
 *
 * Only committed views enter; an older one never replaces a newer one; what an update of ours has touched is replaced or
 * dropped before its caller learns that it is final, and a read that began earlier does not bring it back.
 */
import type { ViewDetails } from '../../correctable/binding.ts';
import { CorrectableError } from '../../correctable/errors.ts';
import type { Operation } from '../../correctable/operation.ts';
import { Fences } from './fences.ts';
import { nameOf, viewId } from './identity.ts';
import type { CachedWrite } from './options.ts';
import { mayReplace, standing, type IsOlder } from './ordering.ts';
import type { CacheSession, Candidate, Floor } from './session.ts';
import type { CacheEntry } from './store.ts';
import { ViewCache, type CacheBounds, type CachedView, type OnChange } from './view-cache.ts';

/** An operation as the cache sees it. */
export interface Subject {
  readonly operation: Operation;
  readonly principal: string;
  /** What its view is filed under; `undefined` for an operation whose views are not cached. */
  readonly id: string | undefined;
  readonly touches: readonly string[] | undefined;
  /** When it began, in the cache's own counting. */
  readonly order: number;
  readonly session: CacheSession | undefined;
}

/** A view as the store behind gave it. */
export interface GivenView {
  readonly value: unknown;
  readonly level: string;
  readonly details: ViewDetails;
}

/** What the rules depend on. */
export interface CommittedViewsOptions {
  /** The levels of the store behind, weakest first. */
  readonly levels: readonly string[];
  readonly committed: ReadonlySet<string>;
  readonly isOlder: IsOlder;
  readonly bounds: CacheBounds;
  readonly writeThrough: (operation: Operation, result: unknown) => CachedWrite | undefined;
  readonly now: () => number;
  readonly onChange: OnChange;
  readonly onError: (error: unknown) => void;
}

export class CommittedViews {
  readonly cache: ViewCache;
  readonly #options: CommittedViewsOptions;
  readonly #fences: Fences;
  #order = 0;

  constructor(options: CommittedViewsOptions) {
    this.#options = options;
    this.cache = new ViewCache(options.bounds, options.onChange);
    this.#fences = new Fences(options.bounds.entriesMax);
  }

  /** The next moment in the cache's own counting. */
  tick(): number {
    return ++this.#order;
  }

  /** The view to show for `subject`, if there is one that its session may see. */
  find({ id, session }: Subject): CachedView | undefined {
    if (id === undefined) return undefined;
    const view = this.cache.peek(id);
    if (view === undefined) return undefined;
    const candidate: Candidate = { ...view, id, isStrongest: this.#isStrongest(view.entry.level) };
    if (session?.admits(candidate) === false) return undefined;
    session?.learnRead(view.entry.touches, this.#floor(id, view.entry.version, view.order));
    return this.cache.use(id);
  }

  /** A read gave a view. */
  recordRead(subject: Subject, view: GivenView): void {
    const { id, touches, order, session } = subject;
    if (id === undefined || !this.#options.committed.has(view.level)) return;
    session?.learnRead(touches, this.#floor(id, view.details.version, order));
    if (this.#isOutdated(subject, id, view)) return;
    this.#put(id, this.#entry(view, touches), order);
  }

  /** An update was committed: its outcome can never change. */
  recordUpdate(subject: Subject, view: GivenView): void {
    const { operation, principal, touches, order, session } = subject;
    const write = this.#writeOf(operation, view.value);
    const id = write && viewId(principal, write.operation);
    const version = view.details.version;
    const replaced = id === undefined ? undefined : this.cache.peek(id);
    const isOvertaken = this.#fences.isAfter(touches, order);
    this.cache.deleteTouched(touches);
    this.#fences.raise(touches, this.tick());
    session?.learnUpdate(touches, this.#floor(id, version, order));
    if (write === undefined || id === undefined) return;
    const is = standing(version, replaced?.entry.version, this.#options.isOlder);
    if (replaced !== undefined && (is === 'older' || is === 'same')) this.cache.put(id, replaced);
    // Where another update ended in the meantime, only versions tell which of the two the store executed last.
    else if (!isOvertaken || is === 'newer')
      this.#put(id, this.#entry({ ...view, value: write.value }, touches), order);
  }

  /** An update failed. It may have been executed all the same, so that nothing is known of reads that overlapped it. */
  recordFailedUpdate({ touches }: Subject): void {
    this.#fences.raise(touches, this.tick());
  }

  /** Another client has changed these objects, or any may have changed. */
  drop(touches: readonly string[] | undefined): void {
    this.cache.deleteTouched(touches);
    this.#fences.raise(touches, this.tick());
  }

  /** Drops the views whose id is chosen, and whatever reads under way would bring back. */
  dropWhere(isChosen: (id: string) => boolean): void {
    for (const id of this.cache.ids()) if (isChosen(id)) this.cache.delete(id);
    this.#fences.raise(undefined, this.tick());
  }

  /** Takes over what a store kept, unless an update or a newer view came in while it was read. */
  restore(id: string, entry: CacheEntry): void {
    const isKnown = this.#options.levels.includes(entry.level);
    if (this.cache.peek(id) !== undefined) return;
    if (isKnown && !this.#fences.isAfter(entry.touches, 0)) this.cache.put(id, { entry, order: 0 });
    else this.#options.onChange(id, undefined);
  }

  #isOutdated({ touches, order }: Subject, id: string, { level, details }: GivenView): boolean {
    const { isOlder, levels } = this.#options;
    const current = this.cache.peek(id);
    const isOvertaken = this.#fences.isAfter(touches, order);
    if (current === undefined) return isOvertaken;
    const { version } = current.entry;
    if (isOvertaken) return standing(details.version, version, isOlder) !== 'newer';
    const next = { version: details.version, rank: levels.indexOf(level), order };
    return !mayReplace(next, { version, rank: levels.indexOf(current.entry.level), order: current.order }, isOlder);
  }

  #put(id: string, entry: CacheEntry, order: number): void {
    try {
      // The application may change the object that it was given: the cache keeps a copy of its own.
      const meta = entry.meta && { meta: copy(entry.meta) };
      this.cache.put(id, { entry: { ...entry, value: copy(entry.value), ...meta }, order });
    } catch (cause) {
      this.cache.delete(id);
      const message = `cache: a value of '${nameOf(id)}' is no plain data: exclude the operation by 'cacheable'`;
      this.#options.onError(new CorrectableError('INVALID_VALUE', message, { cause }));
    }
  }

  /** The application's function must not disturb the store that has just answered: without it, views are dropped. */
  #writeOf(operation: Operation, result: unknown): CachedWrite | undefined {
    try {
      return this.#options.writeThrough(operation, result);
    } catch (error) {
      this.#options.onError(error);
      return undefined;
    }
  }

  #entry({ value, level, details }: GivenView, touches: readonly string[] | undefined): CacheEntry {
    const { version, meta } = details;
    const known = { ...(version !== undefined && { version }), ...(meta !== undefined && { meta }) };
    return { value, level, ...known, cachedAt: this.#options.now(), touches };
  }

  #floor(id: string | undefined, version: unknown, order: number): Floor {
    return { id, version, order, knownAt: this.tick() };
  }

  #isStrongest(level: string): boolean {
    return this.#options.levels.indexOf(level) === this.#options.levels.length - 1;
  }
}

/** A value of its own for everybody: changing one does not change another's. Throws for what is no plain data. */
export function copy<T>(value: T): T {
  return typeof value === 'object' && value !== null ? structuredClone(value) : value;
}
