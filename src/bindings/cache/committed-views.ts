/**
 * The rules of coherence: what of an operation's views enters the cache, and what leaves it (Correctables, OSDI 2016,
 * §5.2: write-through; docs/spec/cache.md).
 *
 * Only committed views enter; an older one never replaces a newer one; what an update of ours has touched is replaced or
 * dropped before its caller learns that it is final, and no view that may lag behind it brings the old value back.
 */
import type { ViewDetails } from '../../correctable/binding.ts';
import type { Clock } from '../../correctable/clock.ts';
import { structurallyEqual } from '../../correctable/equal.ts';
import { CorrectableError } from '../../correctable/errors.ts';
import type { Operation } from '../../correctable/operation.ts';
import { copyOf, NoPlainData, ownOf } from '../../values/copy.ts';
import { Expiry } from './expiry.ts';
import { Fences, type Change, type FencesData } from './fences.ts';
import { nameOf, principalOf } from './identity.ts';
import type { CachedWrite } from './options.ts';
import { marksOf, objectMarksOf, ofView, scopeOf } from './scope.ts';
import type { CacheSession, Floor } from './session.ts';
import type { CacheEntry } from './store.ts';
import {
  ELSEWHERE,
  strongestOf,
  supersede,
  type Fence,
  type IsOlder,
  type Recency,
  type Successor,
  type Verdict,
} from './supersede.ts';
import { Times } from './times.ts';
import type { Noted } from './transaction-log.ts';
import { ViewCache, type CacheBounds, type CachedView, type OnChange } from './view-cache.ts';

/** An operation as the cache sees it. */
export interface Subject {
  readonly operation: Operation;
  /** An update as it was asked for, with arguments of its own; where these cannot be copied, why not. */
  readonly asked?: Operation | undefined;
  readonly uncopied?: unknown;
  readonly principal: string;
  /** Counts the principals: what was under way for a former one is not filed. */
  readonly reign: number;
  /** What its view is filed under; `undefined` for an operation whose views are not cached. */
  readonly id: string | undefined;
  readonly touches: readonly string[] | undefined;
  /** When it began, in the cache's own counting. */
  readonly began: number;
  /** What was known of the store's transactions then. */
  readonly noted: Noted;
  readonly session: CacheSession | undefined;
  /**
   * Until when what was learnt of its view is surely no newer than what is still to come of it: what was known before it
   * began, and its own views since, which come in order.
   */
  aheadOf: number;
  /** Of an update whose caller has been told at a weaker level that it is final. */
  promise?: Promised;
}

/** What is known of an update that was promised. */
interface Promised {
  /** When. */
  readonly at: number;
  /** What it changes. */
  readonly marks: readonly string[];
  /** Whether something else had changed that by then, since the update began. */
  readonly fence: Fence;
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
  readonly ttlMs: number;
  readonly clock: Clock;
  readonly writeThrough: (operation: Operation, result: unknown) => CachedWrite | undefined;
  readonly cacheable: (operation: Operation) => boolean;
  readonly touches: (operation: Operation) => readonly string[] | undefined;
  /** Returns what an operation's view is filed under. */
  readonly idOf: (principal: string, operation: Operation) => string | undefined;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  readonly onChange: OnChange;
  readonly onError: (error: unknown) => void;
}

/** The first moment in the counting of a cache: before all of its operations. */
const START = 1;

/** Operations of more names than this are not told of one by one. */
const TOLD_MAX = 1_000;

export class CommittedViews {
  readonly #cache: ViewCache;
  readonly #options: CommittedViewsOptions;
  readonly #fences: Fences;
  /** Of views that nothing tells apart by age: only what surely is newer than all of them is let in. */
  readonly #contests: Times;
  readonly #expiry: Expiry;
  readonly #told = new Set<string>();
  readonly #toldRefused = new Set<string>();
  /** Whether a store may have fences of an earlier page that nobody has read yet: views that may lag are not shown. */
  isUnread = false;
  #time = START;
  #reign = 0;
  #isStopped = false;

  constructor(options: CommittedViewsOptions) {
    const { bounds, clock, onChange } = options;
    this.#options = options;
    this.#cache = new ViewCache(bounds, onChange);
    this.#fences = new Fences(bounds.entriesMax);
    this.#contests = new Times(bounds.entriesMax);
    this.#expiry = new Expiry(clock, (nowMs) => this.#cache.deleteExpired(nowMs));
  }

  get size(): { readonly entries: number; readonly bytes: number } {
    return this.#cache.size;
  }

  /** Which principal it is whose views are filed, counted. */
  get reign(): number {
    return this.#reign;
  }

  /** Whether a view is filed under `id`. */
  has(id: string): boolean {
    return this.#cache.peek(id) !== undefined;
  }

  /** The next moment in the cache's own counting. */
  tick(): number {
    return ++this.#time;
  }

  /** The view to show for `subject`, a copy, if there is one that its session may see. */
  find({ id, session }: Subject): CacheEntry | undefined {
    const view = id === undefined ? undefined : this.#cache.peek(id);
    if (id === undefined || view === undefined) return undefined;
    if (view.expiresAtMs <= this.#options.clock.now()) {
      this.#cache.delete(id);
      return undefined;
    }
    const { entry, began } = view;
    if (this.isUnread && !view.isStrongest) return undefined;
    if (session?.admits({ id, entry, began, isStrongest: this.#isStrongest(entry.level) }) === false) return undefined;
    session?.learnCached(entry.touches, this.#floor(id, entry, began));
    this.#cache.use(id);
    const { value, meta, version } = entry;
    const shown = { ...entry, value: copyOf(value).value, ...(meta && { meta: copyOf(meta).value }) };
    return typeof version === 'object' ? { ...shown, version: ownOf(version) } : shown;
  }

  /** A read gave a view. */
  recordRead(subject: Subject, view: GivenView): void {
    const { id, touches, began, session, reign, principal } = subject;
    if (!this.#options.committed.has(view.level)) return;
    // The session has seen it, whether it is filed or not, and whoever has asked meanwhile.
    session?.learnRead(touches, this.#floor(id, { level: view.level, ...view.details }, began));
    if (id === undefined || !this.#isOf(reign)) return;
    const isStrongest = this.#isStrongest(view.level) || view.details.final === true;
    const current = this.#cache.peek(id);
    const next = this.#viewOf(subject, view, { touches, isStrongest });
    const { aheadOf } = subject;
    const fence = strongestOf(
      this.#fences.against(marksOf(id, touches), { principal, began, isStrongest }),
      this.#contestOf(id, aheadOf, isStrongest),
    );
    const learntAt = Math.max(current?.knownAt ?? 0, this.#contests.latest([ofView(id)]));
    if (aheadOf >= learntAt) subject.aheadOf = next.knownAt;
    this.#file(id, next, { current, fence, began: aheadOf });
  }

  /** An update was committed: its outcome can never change. Says what it has changed. */
  recordUpdate(subject: Subject, view: GivenView): Change {
    const { touches, began, session, reign, principal } = subject;
    const change = { kind: 'update', scope: scopeOf(touches), principal } as const;
    const write = this.#isOf(reign) ? this.#writeOf(subject, view.value) : undefined;
    const id = write && this.#options.idOf(principal, write.operation);
    const replaced = id === undefined ? undefined : this.#cache.peek(id);
    // Where another update ended in the meantime, only versions tell which of the two the store executed last.
    const touched = [touches, write?.touches];
    const fence =
      id === undefined ? 'none' : strongestOf(...touched.map((each) => this.#sinceBegan(subject, id, each)));
    this.drop(change);
    session?.learnUpdate(touches, this.#floor(id, { level: view.level, ...view.details }, began));
    if (write === undefined || id === undefined) return change;
    const written = { touches: write.touches, isStrongest: true };
    const next = this.#viewOf(subject, { ...view, value: write.value }, written);
    this.#file(id, next, { current: replaced, fence, began });
    return change;
  }

  /**
   * The caller of an update is told at a weaker level that it is final: what was there before is not shown any more,
   * although nobody knows what is there now. Says what that is.
   */
  recordPromise(subject: Subject): Change {
    const { touches, began, session, principal } = subject;
    const change = { kind: 'update', scope: scopeOf(touches), principal } as const;
    const marks = objectMarksOf(touches);
    const fence = this.#changedSince(began, marks);
    this.drop(change);
    subject.promise = { at: this.#time, marks, fence };
    session?.learnUpdate(touches, this.#floor(undefined, { level: '' }, began));
    return change;
  }

  /** An update failed. It may have been executed all the same, so that nothing is known of reads that overlapped it. */
  recordFailedUpdate({ touches }: Subject): void {
    this.#fences.raise({ kind: 'drop', scope: scopeOf(touches) }, this.tick());
  }

  /** What was changed, here or by another page, is not to be shown any more as it was before. */
  drop(change: Change): void {
    this.#cache.deleteIn(change.scope);
    this.#fences.raise(change, this.tick());
  }

  /** What the pages before have updated: here too, only what is executed since is let in. */
  inherit(fences: FencesData | undefined): void {
    if (fences !== undefined) this.#fences.inherit(fences);
    // What the store kept has been judged by them there; the strongest views of this page are later than any page before.
    const mayLag = ({ began, isStrongest }: CachedView): boolean => began > ELSEWHERE && !isStrongest;
    const isFenced = (id: string, { began, isStrongest }: CachedView, marks: readonly string[]): boolean =>
      this.#fences.against(marks, { principal: principalOf(id), began, isStrongest }) !== 'none';
    this.#cache.deleteWhere((id, view, marks) => mayLag(view) && isFenced(id, view, marks));
    this.isUnread = false;
  }

  /** Memory is empty, and stays so of what is under way: for another principal, or at the end. */
  forget(): void {
    this.#cache.forget();
    this.#reign += 1;
  }

  /** Whether what a store kept may still be shown. */
  isFresh({ level, cachedAt }: CacheEntry): boolean {
    const ageMs = this.#options.now() - cachedAt;
    const { ttlMs, levels, committed } = this.#options;
    // One from the future is of a clock that was set back since: nobody knows how old it is.
    return levels.includes(level) && committed.has(level) && (ttlMs === Infinity || (ageMs >= 0 && ageMs < ttlMs));
  }

  /**
   * Takes over what a store kept as of `asOf`, or as of before everything: as if it had been here before all that this page
   * has learnt, which is judged against it now.
   */
  restore(id: string, entry: CacheEntry, asOf = START): void {
    // Of what has changed since, it knows nothing.
    if (this.#since(asOf, id, entry.touches) !== 'none') return;
    const { now, clock, ttlMs } = this.#options;
    const knownAt = this.tick();
    const kept: CachedView = {
      entry,
      began: ELSEWHERE - knownAt,
      knownAt,
      noted: { seq: entry.stamp?.seq ?? 0 },
      isStrongest: false,
      isDurable: true,
      expiresAtMs: clock.now() + ttlMs - (now() - entry.cachedAt),
    };
    const learnt = this.#cache.peek(id);
    const verdict = learnt === undefined ? 'keep' : this.#supersede(learnt, { ...kept, knownAt: ELSEWHERE }, 'none');
    if (verdict === 'neither') this.#contest(id, kept);
    else if (verdict === 'keep') this.#put(id, kept);
    else if (verdict === 'same' && learnt !== undefined) this.#put(id, this.#joined(learnt, kept));
  }

  /** The rule in the store's transaction: its times are numbers of transactions. */
  judge(view: CachedView, began: number, current: CacheEntry | undefined, fence: Fence): Verdict {
    const next = { ...view, began, knownAt: Infinity };
    const there = current && { entry: current, began: ELSEWHERE, knownAt: current.stamp?.seq ?? 0 };
    return this.#supersede(next, there, fence);
  }

  /** The store takes no view like this one. */
  tellRefused(id: string, cause: unknown): void {
    // A value that fits nowhere says nothing of a store that is full.
    this.#tell(id, 'a view is kept in memory alone: its store has not taken it', undefined, cause, this.#toldRefused);
  }

  /** Lets time pass without it, and files nothing any more. */
  stop(): void {
    this.#isStopped = true;
    this.#expiry.stop();
    this.forget();
  }

  /** Files `next` where the rule lets it in; what may be the older one of two is not kept. */
  #file(id: string, next: CachedView, { current, fence, began }: Filing): void {
    const verdict = this.#supersede({ ...next, began }, current, fence);
    if (verdict === 'neither') this.#contest(id, next);
    else if (verdict === 'keep' && current !== undefined) this.#keep(id, current);
    else this.#put(id, verdict === 'same' && current !== undefined ? this.#joined(next, current) : next);
  }

  #supersede(next: Placed & Pick<CachedView, 'isStrongest'>, current: Placed | undefined, fence: Fence): Verdict {
    const successor: Successor = { ...this.#recency(next), isStrongest: next.isStrongest };
    return supersede(successor, current && this.#recency(current), fence, this.#options.isOlder);
  }

  #recency({ entry: { value, version, level }, began, knownAt }: Placed): Recency {
    return { value, version, rank: this.#rankOf(level), began, knownAt };
  }

  /** One view, given twice: the stronger of the two, as of the later time. */
  #joined(next: CachedView, current: CachedView): CachedView {
    const { knownAt, expiresAtMs, entry } = next;
    const ranks = this.#rankOf(entry.level) - this.#rankOf(current.entry.level);
    if (ranks < 0) return { ...current, entry: { ...current.entry, cachedAt: entry.cachedAt }, knownAt, expiresAtMs };
    return ranks > 0 ? next : { ...next, began: Math.max(next.began, current.began) };
  }

  /** From now on only what surely is newer than all that was shown until now. */
  #contest(id: string, { knownAt }: CachedView): void {
    this.#cache.delete(id);
    this.#contests.raise([ofView(id)], knownAt);
  }

  #contestOf(id: string, began: number, isStrongest: boolean): Fence {
    const contestedAt = this.#contests.latest([ofView(id)]);
    return contestedAt > 0 && !(isStrongest && began >= contestedAt) ? 'update' : 'none';
  }

  #keep(id: string, current: CachedView): void {
    if (this.#cache.peek(id) === undefined) this.#cache.put(id, current);
  }

  #put(id: string, view: CachedView): void {
    try {
      // The application may change the object that it was given: the cache keeps a copy of its own.
      const value = copyOf(view.entry.value);
      const meta = copyOf(view.entry.meta, 'meta');
      const version = this.#versionOf(view.entry);
      const entry = { ...view.entry, value: value.value, ...(meta.value && { meta: meta.value }) };
      const fadesAt = value.fadesAt ?? meta.fadesAt ?? version;
      if (fadesAt !== undefined)
        this.#tell(id, `${fadesAt} is kept in memory alone: stores give back plain data`, fadesAt);
      this.#cache.put(id, { ...view, entry, isDurable: fadesAt === undefined });
      this.#expiry.expect(view.expiresAtMs);
    } catch (cause) {
      this.#contest(id, view);
      this.#tellUncopied(id, cause);
    }
  }

  #tellUncopied(id: string, cause: unknown): void {
    const path = cause instanceof NoPlainData ? cause.path : undefined;
    const what = cause instanceof NoPlainData ? cause.message : 'what was given cannot be copied';
    this.#tell(id, `${what}, thus not kept: give plain data, or exclude the operation by 'cacheable'`, path, cause);
  }

  /** Where in the version something stands that a store would change: it is kept as it is, for the binding to compare. */
  #versionOf({ version }: CacheEntry): string | undefined {
    try {
      return copyOf(version, 'version').fadesAt;
    } catch (error) {
      return error instanceof NoPlainData ? error.path : 'version';
    }
  }

  /** Once for the operations of one name. */
  #tell(id: string, what: string, field: string | undefined, cause?: unknown, told = this.#told): void {
    const name = nameOf(id);
    if (told.has(name) || told.size > TOLD_MAX) return;
    told.add(name);
    this.#options.onError(new CorrectableError('INVALID_VALUE', `cache: of '${name}', ${what}`, { field, cause }));
  }

  /** The application's functions must not disturb the store that has just answered: without them, views are dropped. */
  #writeOf({ operation, asked, uncopied, principal }: Subject, result: unknown): Written | undefined {
    const { writeThrough, cacheable, touches, idOf, onError } = this.#options;
    try {
      // What its caller has made of them since a store far away has never seen, and one in the process may have.
      if (asked !== undefined && !structurallyEqual(asked.args, operation.args)) return undefined;
      const write = writeThrough(asked ?? operation, result);
      if (write === undefined || !cacheable(write.operation)) return undefined;
      if (asked !== undefined) return { ...write, touches: touches(write.operation) };
      const id = idOf(principal, write.operation);
      if (id !== undefined) this.#tellUncopied(id, uncopied);
    } catch (error) {
      onError(error);
    }
    return undefined;
  }

  #viewOf(
    { began, noted }: Subject,
    { value, level, details }: GivenView,
    { touches, isStrongest }: { readonly touches: readonly string[] | undefined; readonly isStrongest: boolean },
  ): CachedView {
    const { version, meta } = details;
    const { now, clock, ttlMs } = this.#options;
    const known = { ...(version !== undefined && { version }), ...(meta !== undefined && { meta }) };
    const entry = { value, level, ...known, cachedAt: now(), touches };
    const expiresAtMs = clock.now() + ttlMs;
    return { entry, began, knownAt: this.tick(), noted, isStrongest, isDurable: true, expiresAtMs };
  }

  /** Whether something of a strongest view has changed since, or was shown that nothing tells apart from it. */
  #since(began: number, id: string, touches: readonly string[] | undefined): Fence {
    return strongestOf(this.#changedSince(began, marksOf(id, touches)), this.#contestOf(id, began, true));
  }

  /** The same since an update began, what was promised of it left out. */
  #sinceBegan({ began, promise }: Subject, id: string, touches: readonly string[] | undefined): Fence {
    if (promise === undefined) return this.#since(began, id, touches);
    const marks = marksOf(id, touches);
    const promised = marks.filter((mark) => promise.marks.includes(mark));
    const others = marks.filter((mark) => !promise.marks.includes(mark));
    return strongestOf(
      promise.fence,
      this.#changedSince(promise.at, promised),
      this.#changedSince(began, others),
      this.#contestOf(id, began, true),
    );
  }

  /** Of what was read at the strongest level: whose it is does not matter. */
  #changedSince(began: number, marks: readonly string[]): Fence {
    return this.#fences.against(marks, { principal: '', began, isStrongest: true });
  }

  /** Whether what began in that reign is filed. */
  #isOf(reign: number): boolean {
    return reign === this.#reign && !this.#isStopped;
  }

  #floor(id: string | undefined, { level, version }: Pick<CacheEntry, 'level' | 'version'>, began: number): Floor {
    return { id, version, began, isStrongest: this.#isStrongest(level), knownAt: this.tick() };
  }

  #isStrongest(level: string): boolean {
    return this.#rankOf(level) === this.#options.levels.length - 1;
  }

  #rankOf(level: string): number {
    return this.#options.levels.indexOf(level);
  }
}

/** Where a view would be filed. */
interface Filing {
  readonly current: CachedView | undefined;
  readonly fence: Fence;
  /** For the rule: what was learnt until then is no newer. */
  readonly began: number;
}

/** A view with its place in a counting. */
type Placed = Pick<CachedView, 'entry' | 'began' | 'knownAt'>;

/** The read that an update has decided, with what that read depends on. */
interface Written extends CachedWrite {
  readonly touches: readonly string[] | undefined;
}
