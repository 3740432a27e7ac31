/** The binding that `cached` makes: asks the cache, then the store behind, and lets the cache learn from its answers. */
import type { Binding, BindingSession, InvocationContext, Sink } from '../../correctable/binding.ts';
import { isOlder } from '../../correctable/binding.ts';
import { systemClock, type Clock } from '../../correctable/clock.ts';
import { defaultEnvironment } from '../../correctable/environment.ts';
import { CorrectableError, isCorrectableError } from '../../correctable/errors.ts';
import { isThenable } from '../../correctable/given.ts';
import type { Levels } from '../../correctable/level.ts';
import type { Operation } from '../../correctable/operation.ts';
import { CommittedViews, type GivenView, type Subject } from './committed-views.ts';
import type { Change } from './fences.ts';
import { hashOf, isViewId, nameOf, principalOf, viewId } from './identity.ts';
import { InnerContext } from './inner-context.ts';
import { ObservingSink } from './observing-sink.ts';
import { BYTES_MAX, ENTRIES_MAX, portableTouches, portableWriteThrough, type CacheOptions } from './options.ts';
import { attempt, Persistence, type Loaded } from './persistence.ts';
import { isLate, STORE_WAIT_MS } from './store-errors.ts';
import { scopeOf, scopeOfPrincipal, type Scope } from './scope.ts';
import { CacheSession } from './session.ts';
import type { CacheEntry } from './store.ts';
import { copyOf } from '../../values/copy.ts';
import type { CachedView } from './view-cache.ts';

type WithCache<L extends Levels> = readonly ['cache', ...L];

const CHANGED = 'its arguments were changed after it was asked: ask again with an object of its own';

/** One submission on its way. */
interface Submission {
  readonly subject: Subject;
  /** The levels wanted of the store behind; none when the cache was asked alone. */
  readonly wanted: readonly string[];
  readonly sink: Sink;
  readonly context: InvocationContext;
}

export class CacheBinding<L extends Levels> implements Binding<WithCache<L>> {
  readonly name: string;
  /** There are sessions where the store behind keeps them. */
  readonly openSession?: (tokens?: readonly string[]) => BindingSession;
  /** Where the store behind does: the identity of a submission is handed on. */
  readonly executesOnce: boolean;
  readonly hasIdempotencyKeys: boolean;
  /** Where it is known: what is filed, and what is submitted, belongs to them. */
  readonly principal?: () => string;
  /** Who the binding behind asks as, where it says so and the cache was told by itself. */
  readonly #behind: (() => string) | undefined;
  readonly #inner: Binding<L>;
  readonly #options: CacheOptions<L>;
  readonly #levels: WithCache<L>;
  readonly #clock: Clock;
  readonly #onError: (error: unknown) => void;
  readonly #views: CommittedViews;
  readonly #persistence: Persistence | undefined;
  /** As last heard; `undefined` where nobody could say. */
  #principal: string | undefined;
  #hasAskedWho = false;
  /** `undefined` once what the store kept is there, or is not waited for any more. */
  #loading: Promise<unknown> | undefined;
  #reading: Promise<unknown> = Promise.resolve();
  /** What the store has already, or has lost already, is not told to it. */
  #tell: Telling = change;
  #closing: Promise<void> | undefined;
  /** Nothing is kept in memory any more. */
  #isOver = false;

  constructor(given: Binding<L>, options: CacheOptions<L>) {
    const inner = given.share?.() ?? given;
    const levels = inner.consistencyLevels();
    const bounds = { entriesMax: options.entriesMax ?? ENTRIES_MAX, bytesMax: options.bytesMax ?? BYTES_MAX };
    this.name = `cache(${inner.name})`;
    this.executesOnce = inner.executesOnce === true;
    this.hasIdempotencyKeys = inner.hasIdempotencyKeys === true;
    this.#inner = inner;
    this.#options = options;
    this.#levels = ['cache', ...levels];
    this.#clock = options.clock ?? systemClock;
    this.#onError = reporter(options.onError);
    const now = options.now ?? ((): number => this.#wallNow());
    this.#views = new CommittedViews({
      levels,
      committed: new Set(options.committed ?? levels.filter((level) => level !== 'tentative')),
      isOlder: (version, than) => this.#isSurelyOlder(version, than),
      bounds,
      ttlMs: options.ttlMs ?? Infinity,
      clock: this.#clock,
      writeThrough: options.writeThrough ?? portableWriteThrough,
      cacheable: options.cacheable ?? always,
      touches: options.touches ?? portableTouches,
      idOf: (whose, operation) => this.#idOf(whose, operation),
      now,
      onChange: (id, view) => this.#persist(id, view),
      onError: this.#onError,
    });
    const { principal = inner.principal?.bind(inner) } = options;
    if (principal !== undefined) this.principal = typeof principal === 'function' ? principal : () => principal;
    if (options.principal !== undefined) this.#behind = inner.principal?.bind(inner);
    if (inner.openSession !== undefined) this.openSession = (tokens) => this.#openSession(tokens);
    this.#persistence =
      options.store &&
      new Persistence({
        store: options.store,
        clock: this.#clock,
        judge: (...judged) => this.#views.judge(...judged),
        isKnown: (id) => this.#views.has(id),
        isPresent: (id) => principalOf(id) === this.#principal,
        onRefused: (id, cause) => this.#views.tellRefused(id, cause),
        marksMax: bounds.entriesMax,
        bytesMax: bounds.bytesMax,
        onError: this.#onError,
        now,
        onNotice: (change) => this.#telling(silence, () => this.#views.drop(change)),
        tick: () => this.#views.tick(),
        onRead: (stored, asOf) => this.#restore(stored, asOf),
      });
    if (this.#persistence === undefined) return;
    this.#views.isUnread = true;
    this.#startLoading(this.#persistence);
  }

  get size(): { readonly entries: number; readonly bytes: number } {
    return this.#views.size;
  }

  consistencyLevels(): WithCache<L> {
    return this.#levels;
  }

  supports(operation: Operation): boolean {
    return this.#inner.supports(operation);
  }

  isOlder(version: unknown, than: unknown): boolean {
    return this.#inner.isOlder === undefined ? isOlder(version, than) : this.#inner.isOlder(version, than);
  }

  submitOperation<T>(
    operation: Operation<T>,
    levels: readonly WithCache<L>[number][],
    sink: Sink<T, WithCache<L>[number]>,
    context: InvocationContext,
  ): void {
    const wanted = levels.filter((level) => level !== 'cache');
    const submission = { subject: this.#subject(operation, context), wanted, sink: sink as Sink, context };
    const isLookedUp = wanted.length < levels.length && submission.subject.id !== undefined;
    if (!isLookedUp) return this.#ask(submission);
    return wanted.length === 0 ? this.#askCacheAlone(submission) : this.#askBoth(submission);
  }

  async ready(): Promise<void> {
    // Whoever asks waits as long as is waited at all, even where others have given up.
    await this.#persistence?.within('ready', this.#reading).catch(() => {});
  }

  invalidate(key: string): Promise<void> {
    return this.#drop(scopeOf([key]));
  }

  clear({ principal }: { readonly principal?: string } = {}): Promise<void> {
    const isTheirs = (id: string): boolean => isViewId(id) && principalOf(id) === principal;
    return this.#drop(scopeOfPrincipal(principal), principal === undefined ? always : isTheirs);
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  /** The cache's view first, if it has one; the store behind is asked at once all the same. */
  #askBoth(submission: Submission): void {
    if (this.#showCached(submission) || this.#loading === undefined) return this.#ask(submission);
    this.#whenLoaded(submission.sink, () => void this.#showCached(submission));
    // What the store behind fails with at once, offline for example, must not take away what is being looked for.
    return this.#ask(submission, { failsAfter: () => this.#loading });
  }

  #askCacheAlone(submission: Submission): void {
    if (!this.#showCached(submission)) this.#whenLoaded(submission.sink, () => this.#askLoaded(submission));
  }

  #whenLoaded(sink: Sink, act: () => void): void {
    if (this.#loading === undefined) act();
    else this.#loading.then(act).catch((error: unknown) => sink.fail(error));
  }

  #askLoaded(submission: Submission): void {
    const { sink, subject } = submission;
    const refuse = (message: string, retryable?: boolean): void =>
      sink.fail(new CorrectableError('UNAVAILABLE', message, { retryable }));
    if (this.#closing !== undefined) return refuse('the cache is closed: make a new client', false);
    this.#askWho();
    const isFormer = subject.reign !== this.#views.reign;
    if (isFormer) return refuse(`${missed(subject)}, and somebody else is signed in now: ask again as them`, false);
    if (this.#showCached(submission)) return undefined;
    const { operation, principal } = subject;
    // What the store said to those of now would be filed under those of before.
    if (this.#idOf(principal, operation) !== subject.id) return refuse(`${missed(subject)}, and ${CHANGED}`, false);
    const explain = (error: unknown): unknown => missedAnd(error, subject);
    if (this.#options.onMiss === 'fetch') return this.#ask(submission, { explain });
    const fix = `ask for a level of '${this.#inner.name}' as well, or set onMiss: 'fetch'`;
    return refuse(`${missed(subject)} and the store behind was not asked: ${fix}`);
  }

  #showCached({ subject, sink }: Submission): boolean {
    const entry = this.#views.find(subject);
    if (entry === undefined) return false;
    const { value, level, version, cachedAt, meta } = entry;
    sink.update(value, 'cache', { version, meta: { ...meta, cachedAt, cachedFrom: level } });
    return true;
  }

  #ask(submission: Submission, { explain = same, failsAfter = nothing }: Asking = {}): void {
    const { subject, sink, context } = submission;
    const all = this.#inner.consistencyLevels();
    const wanted = submission.wanted.length > 0 ? submission.wanted : [all[0]];
    const isUpdate = subject.operation.effect === 'update';
    const strongest = all[all.length - 1] as string;
    // An update runs to its end whatever was asked for, and the cache has to know how it ended.
    const isStrongerAsked = isUpdate && !wanted.includes(strongest);
    const asked = isStrongerAsked ? [...wanted, strongest] : wanted;
    const observing = new ObservingSink({
      sink,
      wanted,
      levels: all,
      isStrongerAsked,
      explain,
      failsAfter,
      onView: (view, isLast) => this.#learn(subject, view, isLast, context),
      onFailure: (_error, level) => {
        // Where a weaker level fails, the strongest has still to say how the update ended.
        if (isUpdate && (level === undefined || level === strongest)) this.#views.recordFailedUpdate(subject);
      },
    });
    const innerContext = subject.session === undefined ? context : new InnerContext(context, subject.session.inner);
    const work: unknown = this.#inner.submitOperation(subject.operation, asked, observing, innerContext);
    if (!isThenable(work)) return;
    work.then(
      () => observing.end(),
      (error: unknown) => observing.fail(error),
    );
  }

  /**
   * The cache learns of a view; where an update ends with it, there or for its caller (`isLast`), the promise that the store
   * has heard of it.
   */
  #learn(subject: Subject, view: GivenView, isLast: boolean, context: InvocationContext): Promise<unknown> | undefined {
    // Whatever becomes of the cache: the store behind has answered.
    try {
      this.#askWho();
    } catch (error) {
      this.#onError(error);
    }
    try {
      if (subject.operation.effect === 'read') {
        this.#views.recordRead(subject, view);
        return undefined;
      }
      const isFinal = view.level === this.#inner.consistencyLevels().at(-1) || view.details.final === true;
      if (isFinal) return this.#fence(this.#views.recordUpdate(subject, view), context);
      return isLast ? this.#fence(this.#views.recordPromise(subject), context) : undefined;
    } catch (error) {
      this.#onError(error);
      return undefined;
    }
  }

  #fence(update: Change, { deadlineAt }: InvocationContext): Promise<unknown> | undefined {
    if (this.#persistence === undefined) return undefined;
    if (this.#isOver) return this.#persistence.fenceLate(update).catch(this.#onError);
    this.#persistence.fence(update);
    const leftMs = deadlineAt === undefined ? Infinity : deadlineAt - this.#wallNow();
    return this.#persistence.landed(Math.min(STORE_WAIT_MS, Math.max(0, leftMs / 2))).catch((error: unknown) => {
      // What the store refused has been reported.
      if (isLate(error)) this.#onError(error);
    });
  }

  #subject(operation: Operation, context: InvocationContext): Subject {
    const { cacheable, touches = portableTouches } = this.#options;
    const principal = this.#askWho();
    const began = this.#views.tick();
    const isCached = operation.effect === 'read' && cacheable?.(operation) !== false;
    return {
      operation,
      ...(operation.effect === 'update' && askedOf(operation)),
      principal,
      reign: this.#views.reign,
      id: isCached ? this.#idOf(principal, operation) : undefined,
      touches: touches(operation),
      began,
      aheadOf: began,
      noted: this.#persistence?.note() ?? { seq: 0 },
      session: context.session instanceof CacheSession ? context.session : undefined,
    };
  }

  #idOf(principal: string, operation: Operation): string | undefined {
    return viewId(principal, operation, this.#inner.operationHash?.(operation.name));
  }

  #openSession(tokens?: readonly string[]): BindingSession {
    const inner = this.#inner.openSession?.(tokens) ?? {};
    const floorsMax = this.#options.entriesMax ?? ENTRIES_MAX;
    const goesOnAt = tokens === undefined ? 0 : this.#views.tick();
    return new CacheSession(inner, (version, than) => this.#isSurelyOlder(version, than), floorsMax, goesOnAt);
  }

  /**
   * Who asks at present. Another one than before finds the memory empty, and so does nobody.
   *
   * @throws whatever the application's functions do, and where they do not agree
   */
  #askWho(): string {
    let present: string | undefined;
    try {
      const who = this.principal?.() ?? '';
      // A promise would be another one at each asking.
      if (typeof who !== 'string') throw noText(who);
      if ((this.#behind?.() ?? who) !== who) throw otherBehind();
      present = who;
      return who;
    } finally {
      const isAnother = this.#hasAskedWho && this.#principal !== present;
      this.#principal = present;
      this.#hasAskedWho = true;
      if (isAnother) this.#changePrincipal();
    }
  }

  #changePrincipal(): void {
    this.#views.forget();
    if (this.#persistence === undefined) return;
    this.#persistence.forget();
    // Closed, it would be opened again, and by nobody closed.
    if (!this.#isOver) this.#startLoading(this.#persistence);
  }

  #startLoading(persistence: Persistence): void {
    const end = (): void => {
      if (this.#loading === loading) this.#loading = undefined;
    };
    const reading = persistence.read();
    // It has not begun, and is waited for already, or not any more.
    if (reading === this.#reading) return;
    this.#reading = reading;
    // A store that takes longer is not waited for: what it brings then is taken all the same.
    const loading = persistence.within('load', this.#reading).catch(this.#onError).then(end);
    this.#loading = loading;
  }

  #restore(stored: Loaded, asOf: number | undefined): void {
    if (this.#isOver) return;
    try {
      this.#askWho();
    } catch (error) {
      // Nobody's are shown; what changes is written all the same.
      this.#onError(error);
    }
    const own: [id: string, entry: CacheEntry][] = [];
    for (const [id, entry] of stored) {
      // Another version of the contract has filed it: nobody would find it any more.
      const isOfNow = hashOf(id) === this.#inner.operationHash?.(nameOf(id));
      if (!isOfNow || !this.#views.isFresh(entry)) this.#persistence?.change(id, undefined);
      else if (principalOf(id) === this.#principal) own.push([id, entry]);
    }
    const oldestFirst = own.toSorted(([, a], [, b]) => a.cachedAt - b.cachedAt);
    this.#telling(
      // What did not fit any more has to leave the store.
      (view) => (view === undefined ? 'change' : 'retract'),
      () => {
        for (const [id, entry] of oldestFirst) this.#views.restore(id, entry, asOf);
      },
    );
    // What of it may lag, the store judges by itself.
    this.#telling(retract, () => this.#views.inherit(this.#persistence?.fences));
  }

  #persist(id: string, view: CachedView | undefined): void {
    const what = this.#tell(view);
    if (what === 'retract') this.#persistence?.retract(id);
    else if (what === 'change') this.#persistence?.change(id, view?.isDurable === true ? view : undefined);
  }

  /** Acts, telling the store of changes as `tell` says. */
  #telling(tell: Telling, act: () => void): void {
    this.#tell = tell;
    act();
    this.#tell = change;
  }

  async #drop(scope: Scope, isChosen?: (id: string) => boolean): Promise<void> {
    this.#views.drop({ kind: 'drop', scope });
    await this.#persistence?.drop(scope, isChosen);
  }

  /** What a binding's own order fails to say counts as no: a cache must not come between it and its client. */
  #isSurelyOlder(version: unknown, than: unknown): boolean {
    try {
      return this.isOlder(version, than);
    } catch (error) {
      this.#onError(error);
      return false;
    }
  }

  #wallNow(): number {
    return this.#clock.wallNow?.() ?? this.#clock.now();
  }

  async #close(): Promise<void> {
    let hasEnded = false;
    const closing = attempt(() => this.#inner.close()).finally(() => (hasEnded = true));
    // What it still answers meanwhile is kept; one that hangs keeps nothing of the cache open.
    await this.#atMost(closing.catch(() => {}));
    await this.#loading;
    this.#isOver = true;
    this.#views.stop();
    await this.#persistence?.close();
    if (hasEnded) return closing;
    closing.catch(this.#onError);
    const late = `cache: '${this.#inner.name}' has not closed within ${STORE_WAIT_MS} ms; the cache has`;
    return this.#onError(new CorrectableError('TIMEOUT', late));
  }

  /** Resolves when `work` does, or after as long as anybody waits for a store. */
  #atMost(work: Promise<unknown>): Promise<unknown> {
    return new Promise((resolve) => {
      const timer = this.#clock.setTimer(() => resolve(undefined), STORE_WAIT_MS);
      void work.then(resolve).finally(() => timer.cancel());
    });
  }
}

/** What the store is told when a view is filed, or removed: that; not to write what it was about to; nothing. */
type Telling = (view: CachedView | undefined) => 'change' | 'retract' | 'nothing';

const change: Telling = () => 'change';
const retract: Telling = () => 'retract';
const silence: Telling = () => 'nothing';

/** How the store behind is asked. */
interface Asking {
  /** The error to hand on for a failure. */
  readonly explain?: (error: unknown) => unknown;
  /** What a failure has to wait for, if anything. */
  readonly failsAfter?: () => Promise<unknown> | undefined;
}

const always = (): boolean => true;
const same = (error: unknown): unknown => error;
const nothing = (): undefined => undefined;

/** Reports what nobody waits for; a report that throws disturbs nobody either. */
function reporter(onError: ((error: unknown) => void) | undefined): (error: unknown) => void {
  return (error) => {
    if (onError === undefined) {
      defaultEnvironment.uncaught(error);
      return;
    }
    try {
      onError(error);
    } catch (second) {
      defaultEnvironment.uncaught(second);
    }
  };
}

/** What one of them has seen would be shown to the other. */
function noText(who: unknown): CorrectableError {
  const fix = `must give a text, not ${typeof who}: '' where nobody is signed in`;
  return new CorrectableError('INVALID_ARGUMENT', `principal: ${fix}`, { field: 'principal' });
}

function otherBehind(): CorrectableError {
  const fix = 'the binding behind asks as somebody else: leave it out, and the cache takes it from there';
  return new CorrectableError('INVALID_ARGUMENT', `principal: ${fix}`, { field: 'principal' });
}

/** The operation with arguments that nobody else has in hand, where there can be such. */
function askedOf(operation: Operation): Pick<Subject, 'asked' | 'uncopied'> {
  try {
    return { asked: { ...operation, args: copyOf(operation.args, 'args').value } };
  } catch (uncopied) {
    return { uncopied };
  }
}

function missed({ operation }: Subject): string {
  const of = operation.key === undefined ? '' : ` of '${operation.key}'`;
  return `'${operation.name}'${of} is not in the cache`;
}

/** Offline, a miss has no answer: the error says both. */
function missedAnd(error: unknown, subject: Subject): unknown {
  if (!isCorrectableError(error, 'UNAVAILABLE')) return error;
  const message = `${missed(subject)} and the store behind is unavailable: retry later`;
  return new CorrectableError('UNAVAILABLE', message, { cause: error });
}
