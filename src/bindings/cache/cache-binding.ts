/** The binding that `cached` makes: asks the cache, then the store behind, and lets the cache learn from its answers. */
import type { Binding, BindingSession, InvocationContext, Sink } from '../../correctable/binding.ts';
import { isOlder } from '../../correctable/binding.ts';
import { defaultEnvironment } from '../../correctable/environment.ts';
import { CorrectableError, isCorrectableError } from '../../correctable/errors.ts';
import { isThenable } from '../../correctable/given.ts';
import type { Levels } from '../../correctable/level.ts';
import type { Operation } from '../../correctable/operation.ts';
import { CommittedViews, copy, type GivenView, type Subject } from './committed-views.ts';
import { isViewId, principalOf, viewId } from './identity.ts';
import { InnerContext } from './inner-context.ts';
import { ObservingSink } from './observing-sink.ts';
import { BYTES_MAX, ENTRIES_MAX, portableTouches, portableWriteThrough, type CacheOptions } from './options.ts';
import { Persistence } from './persistence.ts';
import { CacheSession } from './session.ts';
import { isEntry, type CacheEntry } from './store.ts';

type WithCache<L extends Levels> = readonly ['cache', ...L];

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
  readonly #inner: Binding<L>;
  readonly #options: CacheOptions<L>;
  readonly #levels: WithCache<L>;
  readonly #views: CommittedViews;
  readonly #persistence: Persistence | undefined;
  /** `undefined` once what the store kept is there. */
  #loading: Promise<void> | undefined;
  #isRestoring = false;
  #closing: Promise<void> | undefined;

  constructor(given: Binding<L>, options: CacheOptions<L>) {
    const inner = given.share?.() ?? given;
    const levels = inner.consistencyLevels();
    const onError = reporter(options.onError);
    this.name = `cache(${inner.name})`;
    this.executesOnce = inner.executesOnce === true;
    this.#inner = inner;
    this.#options = options;
    this.#levels = ['cache', ...levels];
    this.#views = new CommittedViews({
      levels,
      committed: new Set(options.committed ?? levels.filter((level) => level !== 'tentative')),
      isOlder: (version, than) => this.isOlder(version, than),
      bounds: { entriesMax: options.entriesMax ?? ENTRIES_MAX, bytesMax: options.bytesMax ?? BYTES_MAX },
      writeThrough: options.writeThrough ?? portableWriteThrough,
      now: options.now ?? Date.now,
      onChange: (id, entry) => this.#persist(id, entry),
      onError,
    });
    if (inner.openSession !== undefined) this.openSession = (tokens) => this.#openSession(tokens);
    this.#persistence = options.store && new Persistence(options.store, onError);
    this.#loading = this.#persistence && this.#load(this.#persistence);
  }

  get size(): { readonly entries: number; readonly bytes: number } {
    return this.#views.cache.size;
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
    await this.#loading;
  }

  async invalidate(key: string): Promise<void> {
    this.#views.drop([key]);
    await this.#settled();
  }

  async clear({ principal }: { readonly principal?: string } = {}): Promise<void> {
    await this.#loading;
    if (principal === undefined) this.#views.drop(undefined);
    else this.#views.dropWhere((id) => principalOf(id) === principal);
    await this.#settled();
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  /** The cache's view first, if it has one; the store behind is asked at once all the same. */
  #askBoth(submission: Submission): void {
    this.#whenLoaded(submission.sink, () => void this.#showCached(submission));
    return this.#ask(submission);
  }

  #askCacheAlone(submission: Submission): void {
    this.#whenLoaded(submission.sink, () => this.#askLoaded(submission));
  }

  #whenLoaded(sink: Sink, act: () => void): void {
    if (this.#loading === undefined) act();
    else this.#loading.then(act).catch((error: unknown) => sink.fail(error));
  }

  #askLoaded(submission: Submission): void {
    const { sink, subject } = submission;
    if (this.#closing !== undefined) {
      sink.fail(new CorrectableError('UNAVAILABLE', 'the cache is closed: make a new client', { retryable: false }));
      return;
    }
    if (this.#showCached(submission)) return;
    if (this.#options.onMiss === 'fetch') return this.#ask(submission, (error) => missedAnd(error, subject));
    const fix = `ask for a level of '${this.#inner.name}' as well, or set onMiss: 'fetch'`;
    sink.fail(new CorrectableError('UNAVAILABLE', `${missed(subject)} and the store behind was not asked: ${fix}`));
  }

  #showCached({ subject, sink }: Submission): boolean {
    const view = this.#views.find(subject);
    if (view === undefined) return false;
    const { value, level, version, cachedAt, meta } = view.entry;
    sink.update(copy(value), 'cache', { version, meta: { ...copy(meta), cachedAt, cachedFrom: level } });
    return true;
  }

  #ask(submission: Submission, explain: (error: unknown) => unknown = (error) => error): void {
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
      onView: (view) => (isUpdate ? this.#onUpdateView(subject, view) : this.#views.recordRead(subject, view)),
      onFailure: () => {
        if (isUpdate) this.#views.recordFailedUpdate(subject);
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

  #onUpdateView(subject: Subject, view: GivenView): void {
    const all = this.#inner.consistencyLevels();
    const isFinal = view.level === all[all.length - 1] || view.details.final === true;
    if (isFinal) this.#views.recordUpdate(subject, view);
  }

  #subject(operation: Operation, context: InvocationContext): Subject {
    const { principal = '', cacheable, touches = portableTouches } = this.#options;
    const owner = typeof principal === 'function' ? principal() : principal;
    const isCached = operation.effect === 'read' && cacheable?.(operation) !== false;
    return {
      operation,
      principal: owner,
      id: isCached ? viewId(owner, operation) : undefined,
      touches: touches(operation),
      order: this.#views.tick(),
      session: context.session instanceof CacheSession ? context.session : undefined,
    };
  }

  #openSession(tokens?: readonly string[]): BindingSession {
    const inner = this.#inner.openSession?.(tokens) ?? {};
    const floorsMax = this.#options.entriesMax ?? ENTRIES_MAX;
    return new CacheSession(inner, (version, than) => this.isOlder(version, than), floorsMax);
  }

  async #load(persistence: Persistence): Promise<void> {
    const entries: [id: string, entry: CacheEntry][] = [];
    for (const [id, entry] of await persistence.load()) {
      if (isViewId(id) && isEntry(entry)) entries.push([id, entry]);
      else persistence.dropDamaged(id);
    }
    this.#isRestoring = true;
    for (const [id, entry] of entries.toSorted(([, a], [, b]) => a.cachedAt - b.cachedAt))
      this.#views.restore(id, entry);
    this.#isRestoring = false;
    this.#loading = undefined;
  }

  #persist(id: string, entry: CacheEntry | undefined): void {
    // What has just been read from the store is there already; what did not fit any more has to leave it.
    if (!this.#isRestoring || entry === undefined) this.#persistence?.change(id, entry);
  }

  async #settled(): Promise<void> {
    await this.#loading;
    await this.#persistence?.flush();
  }

  async #close(): Promise<void> {
    try {
      await this.#inner.close();
    } finally {
      await this.#loading;
      await this.#persistence?.close();
    }
  }
}

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

function missed({ operation }: Subject): string {
  const of = operation.key === undefined ? '' : ` of '${operation.key}'`;
  return `'${operation.name}'${of} is not in the cache`;
}

/** Offline, a miss has no answer: the error says both. */
function missedAnd(error: unknown, subject: Subject): unknown {
  if (!isCorrectableError(error, 'UNAVAILABLE')) return error;
  return new CorrectableError('UNAVAILABLE', `${missed(subject)} and the store behind is unavailable: retry later`, {
    cause: error,
  });
}
