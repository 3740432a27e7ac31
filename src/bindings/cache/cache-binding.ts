/**
 * The binding that `cached` creates. It reads the cache, then requests the inner binding, and
 * caches its views.
 */
import type {
  Binding,
  BindingSession,
  InvocationContext,
  Sink,
} from '../../correctable/binding.ts';
import { isOlder } from '../../correctable/binding.ts';
import type { Clock } from '../../correctable/clock.ts';
import { CorrectableError } from '../../correctable/errors.ts';
import { checkOptionNames, isThenable } from '../../correctable/validate.ts';
import type { Levels } from '../../correctable/level-types.ts';
import type { Operation } from '../../correctable/operation.ts';
import { CacheCoherence } from './cache-coherence.ts';
import { type InnerView, type CacheOperation } from './cache-operation.ts';
import { addMissToError, createErrorReporter, describeMiss } from './cache-errors.ts';
import type { Invalidation } from './invalidation-log.ts';
import { isViewId, getViewPrincipals, toViewId, type ViewOwner } from './cache-key.ts';
import { ObservingSink } from './observing-sink.ts';
import type { ResolvedCacheOptions } from './options.ts';
import { runAsync } from './persistence/persistence.ts';
import { PrincipalReader } from './principal-reader.ts';
import { StoreSynchronizer } from './store-synchronizer.ts';
import { STORE_TIMEOUT_MS } from './persistence/store-errors.ts';
import { getScope, getPrincipalScope, type TagScope } from './tags.ts';
import { CacheSession } from './cache-session.ts';
import { copyPlainData } from '../../values/deep-copy.ts';

type LevelsWithCache<L extends Levels> = readonly ['cache', ...L];

const ARGS_CHANGED_MESSAGE =
  'its arguments were changed after it was asked: retry with an object of its own';

interface CacheSubmission {
  readonly operation: CacheOperation;
  /** The levels requested of the inner binding. Empty if only level `cache` was requested. */
  readonly requestedLevels: readonly string[];
  readonly sink: Sink;
  readonly context: InvocationContext;
}

export class CacheBinding<L extends Levels> implements Binding<LevelsWithCache<L>> {
  readonly name: string;
  /** Present if the inner binding keeps sessions. */
  readonly openSession?: (tokens?: readonly string[]) => BindingSession;
  readonly onReconnect?: (listener: () => void) => () => void;
  /** The same as for the inner binding, because the identity of a submission is passed on to it. */
  readonly isExactlyOnce: boolean;
  readonly hasIdempotencyKeys: boolean;
  readonly identifiesByConnection: boolean;
  /**
   * Returns the principal to which cached views and submissions belong. Absent if it is unknown.
   */
  readonly principal?: () => string;
  readonly #inner: Binding<L>;
  readonly #options: ResolvedCacheOptions<L>;
  readonly #levels: LevelsWithCache<L>;
  readonly #clock: Clock;
  readonly #onError: (error: unknown) => void;
  readonly #views: CacheCoherence;
  readonly #principals: PrincipalReader;
  readonly #store: StoreSynchronizer | undefined;
  #closing: Promise<void> | undefined;

  constructor(value: Binding<L>, options: ResolvedCacheOptions<L>) {
    const inner = value.openHandle?.() ?? value;
    const levels = inner.consistencyLevels();
    const { maxEntries, maxBytes } = options;
    this.name = `cache(${inner.name})`;
    this.isExactlyOnce = inner.isExactlyOnce === true;
    this.hasIdempotencyKeys = inner.hasIdempotencyKeys === true;
    this.identifiesByConnection = inner.identifiesByConnection === true;
    this.#inner = inner;
    this.#options = options;
    this.#levels = ['cache', ...levels];
    this.#clock = options.clock;
    this.#onError = createErrorReporter(options.onError);
    const now = options.now ?? ((): number => this.#readWallClock());
    this.#views = new CacheCoherence({
      levels,
      committed: new Set(
        options.committedLevels ?? levels.filter((level) => level !== 'tentative'),
      ),
      isOlder: (version, than) => this.#isSurelyOlder(version, than),
      limits: { maxEntries, maxBytes },
      ttlMs: options.ttlMs,
      clock: this.#clock,
      writeThrough: options.writeThrough,
      isCacheable: options.isCacheable,
      touches: options.touches,
      getViewId: (owner, operation) => this.#getViewId(owner, operation),
      now,
      onChange: (id, view) => this.#store?.persist(id, view),
      onError: this.#onError,
    });
    const { principal = inner.principal?.bind(inner) } = options;
    if (principal !== undefined)
      this.principal = typeof principal === 'function' ? principal : () => principal;
    this.#principals = new PrincipalReader({
      innerName: inner.name,
      getPrincipal: this.principal,
      // Without the option, the principal is the one of the inner binding.
      getInnerPrincipal: options.principal === undefined ? undefined : inner.principal?.bind(inner),
      onChange: () => this.#changePrincipal(),
      onError: this.#onError,
    });
    if (inner.onReconnect !== undefined) this.onReconnect = inner.onReconnect.bind(inner);
    if (inner.openSession !== undefined) this.openSession = (tokens) => this.#openSession(tokens);
    if (options.store === undefined) return;
    this.#store = new StoreSynchronizer({
      store: options.store,
      clock: this.#clock,
      views: this.#views,
      principals: this.#principals,
      getOperationHash: (name) => inner.operationHash?.(name),
      limits: { maxEntries, maxBytes },
      now,
      onError: this.#onError,
    });
    this.#store.load();
  }

  get size(): { readonly entries: number; readonly bytes: number } {
    return this.#views.size;
  }

  consistencyLevels(): LevelsWithCache<L> {
    return this.#levels;
  }

  supports(operation: Operation): boolean {
    return this.#inner.supports(operation);
  }

  describeUnsupported(operation: Operation): string | undefined {
    return this.#inner.describeUnsupported?.(operation);
  }

  isOlder(version: unknown, than: unknown): boolean {
    return this.#inner.isOlder === undefined
      ? isOlder(version, than)
      : this.#inner.isOlder(version, than);
  }

  submitOperation<T>(
    operation: Operation<T>,
    levels: readonly LevelsWithCache<L>[number][],
    sink: Sink<T, LevelsWithCache<L>[number]>,
    context: InvocationContext,
  ): void {
    const requested = levels.filter((level) => level !== 'cache');
    const submission = {
      operation: this.#createOperation(operation, context),
      requestedLevels: requested,
      sink: sink as Sink,
      context,
    };
    const isLookedUp = requested.length < levels.length && submission.operation.id !== undefined;
    if (!isLookedUp) return this.#requestInner(submission);
    return requested.length === 0
      ? this.#requestCacheOnly(submission)
      : this.#requestBoth(submission);
  }

  async ready(): Promise<void> {
    await this.#store?.waitUntilRead();
  }

  invalidate(key: string): Promise<void> {
    return this.#invalidateScope(getScope([key]));
  }

  clear(options: { readonly principal?: string } = {}): Promise<void> {
    // Check the names: with a misspelled `principal`, this would clear the views of all principals.
    checkOptionNames(options, { call: "clear({ principal: 'ada' })" }, { principal: true });
    const { principal } = options;
    if (principal === undefined) return this.#invalidateScope(undefined, returnTrue);
    const isTheirs = (id: string): boolean =>
      isViewId(id) && getViewPrincipals(id).includes(principal);
    return this.#invalidateScope(getPrincipalScope(principal), isTheirs);
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  /**
   * Delivers the cached view first, if there is one. The inner binding is requested at once in any
   * case.
   */
  #requestBoth(submission: CacheSubmission): void {
    if (this.#deliverCached(submission) || this.#store?.loading === undefined)
      return this.#requestInner(submission);
    this.#runWhenLoaded(submission.sink, () => void this.#deliverCached(submission));
    // If the client is offline, the inner binding may fail at once. The failure must not end the
    // operation before the store was read.
    return this.#requestInner(submission, {
      getFailureDelay: () => this.#store?.loading,
    });
  }

  #requestCacheOnly(submission: CacheSubmission): void {
    if (!this.#deliverCached(submission))
      this.#runWhenLoaded(submission.sink, () => this.#requestLoaded(submission));
  }

  #runWhenLoaded(sink: Sink, act: () => void): void {
    const loading = this.#store?.loading;
    if (loading === undefined) act();
    else loading.then(act).catch((error: unknown) => sink.fail(error));
  }

  #requestLoaded(submission: CacheSubmission): void {
    const { sink, operation: subject } = submission;
    const refuse = (message: string, retryable?: boolean): void =>
      sink.fail(new CorrectableError('UNAVAILABLE', message, { retryable }));
    if (this.#closing !== undefined) return refuse('the cache is closed: make a new client', false);
    this.#principals.read();
    const isFormer = subject.principalEpoch !== this.#views.principalEpoch;
    if (isFormer)
      return refuse(
        `${describeMiss(subject)}, and another user is signed in now: retry as that user`,
        false,
      );
    if (this.#deliverCached(submission)) return undefined;
    // If the application has changed the arguments meanwhile, do not submit them: the view for the
    // new arguments would be cached under the old ones.
    if (subject.owner && this.#getViewId(subject.owner, subject.operation) !== subject.id)
      return refuse(`${describeMiss(subject)}, and ${ARGS_CHANGED_MESSAGE}`, false);
    const mapError = (error: unknown): unknown => addMissToError(error, subject);
    if (this.#options.onMiss === 'fetch') return this.#requestInner(submission, { mapError });
    const fix = `ask for a level of '${this.#inner.name}' as well, or set onMiss: 'fetch'`;
    return refuse(`${describeMiss(subject)} and the store behind was not asked: ${fix}`);
  }

  #deliverCached({ operation, sink }: CacheSubmission): boolean {
    const entry = this.#views.find(operation);
    if (entry === undefined) return false;
    const { value, level, version, cachedAt, meta } = entry;
    sink.view(value, 'cache', {
      version,
      meta: { ...meta, cachedAt, cachedFrom: level },
    });
    return true;
  }

  #requestInner(
    submission: CacheSubmission,
    { mapError = returnError, getFailureDelay = returnUndefined }: RequestOptions = {},
  ): void {
    const { operation, sink, context } = submission;
    const all = this.#inner.consistencyLevels();
    const requested = submission.requestedLevels.length > 0 ? submission.requestedLevels : [all[0]];
    const isUpdate = operation.operation.access === 'write';
    const strongest = all[all.length - 1] as string;
    // An update runs to its end at any requested level, and the cache has to know its outcome.
    const isStrongerRequested = isUpdate && !requested.includes(strongest);
    const query = isStrongerRequested ? [...requested, strongest] : requested;
    const observing = new ObservingSink({
      sink,
      requestedLevels: requested,
      levels: all,
      isStrongerRequested,
      mapError,
      getFailureDelay,
      onView: (view, isLast) => this.#recordView(operation, view, isLast, context),
      onFailure: (_error, level) => {
        // If a weaker level fails, the strongest one still reports the outcome of the update.
        if (isUpdate && (level === undefined || level === strongest))
          this.#views.recordFailedWrite(operation);
      },
    });
    const innerContext =
      operation.session === undefined ? context : withSession(context, operation.session.inner);
    const work: unknown = this.#inner.submitOperation(
      operation.operation,
      query,
      observing,
      innerContext,
    );
    if (!isThenable(work)) return;
    work.then(
      () => observing.end(),
      (error: unknown) => observing.fail(error),
    );
  }

  /**
   * Caches a view. If an update ends with it, returns a promise that resolves when the store has
   * been notified.
   */
  #recordView(
    subject: CacheOperation,
    view: InnerView,
    isLast: boolean,
    context: InvocationContext,
  ): Promise<unknown> | undefined {
    // The inner binding has answered, so no failure of the cache may prevent the delivery.
    try {
      this.#principals.read();
    } catch (error) {
      this.#onError(error);
    }
    try {
      if (subject.operation.access === 'read') {
        this.#views.recordRead(subject, view);
        return undefined;
      }
      const isFinal =
        view.level === this.#inner.consistencyLevels().at(-1) || view.details.final === true;
      if (isFinal) return this.#recordInvalidation(this.#views.recordWrite(subject, view), context);
      return isLast
        ? this.#recordInvalidation(this.#views.recordEarlyFinal(subject), context)
        : undefined;
    } catch (error) {
      this.#onError(error);
      return undefined;
    }
  }

  #recordInvalidation(
    update: Invalidation,
    { deadlineAt }: InvocationContext,
  ): Promise<unknown> | undefined {
    const remainingMs = deadlineAt === undefined ? Infinity : deadlineAt - this.#readWallClock();
    return this.#store?.recordInvalidation(update, remainingMs);
  }

  #createOperation(operation: Operation, context: InvocationContext): CacheOperation {
    const { isCacheable, touches } = this.#options;
    const principal = this.#principals.read();
    const owner = this.#principals.getOwner(principal, context.principal);
    const startedAt = this.#views.tick();
    // Never cache the versions that a transaction reads: a transaction that begins with stale
    // versions cannot commit.
    const mayBeCached = operation.access === 'read' && operation.name !== 'readVersions';
    const isCached = mayBeCached && isCacheable(operation);
    return {
      operation,
      ...(operation.access === 'write' && copyArgs(operation)),
      principal: context.principal?.id || principal,
      owner,
      principalEpoch: this.#views.principalEpoch,
      id: isCached && owner ? this.#getViewId(owner, operation) : undefined,
      touches: touches(operation),
      startedAt,
      orderedUntil: startedAt,
      knownTransaction: this.#store?.getKnownTransaction() ?? { seq: 0 },
      session: context.session instanceof CacheSession ? context.session : undefined,
      mayBeReplay: this.#mayBeReplay(context),
    };
  }

  /**
   * Returns whether the inner binding identifies the submission, so that it may return the outcome
   * of an earlier one.
   */
  #mayBeReplay({ idempotencyKey, operationId, origin }: InvocationContext): boolean {
    if (idempotencyKey !== undefined) return true;
    return this.isExactlyOnce && (operationId ?? origin) !== undefined;
  }

  #getViewId(owner: ViewOwner, operation: Operation): string | undefined {
    return toViewId(owner, operation, this.#inner.operationHash?.(operation.name));
  }

  #openSession(tokens?: readonly string[]): BindingSession {
    const inner = this.#inner.openSession?.(tokens) ?? {};
    const maxViews = this.#options.maxEntries;
    const continuedAt = tokens === undefined ? 0 : this.#views.tick();
    return new CacheSession(
      inner,
      (version, than) => this.#isSurelyOlder(version, than),
      maxViews,
      continuedAt,
    );
  }

  #changePrincipal(): void {
    this.#views.clear();
    this.#store?.changePrincipal();
  }

  async #invalidateScope(scope: TagScope, isChosen?: (id: string) => boolean): Promise<void> {
    this.#views.invalidate({ kind: 'drop', scope });
    await this.#store?.invalidateScope(scope, isChosen);
  }

  /**
   * Returns whether `version` is older. Returns false if the binding's own order throws, because
   * the cache must not fail the operation.
   */
  #isSurelyOlder(version: unknown, than: unknown): boolean {
    try {
      return this.isOlder(version, than);
    } catch (error) {
      this.#onError(error);
      return false;
    }
  }

  #readWallClock(): number {
    return this.#clock.wallNow?.() ?? this.#clock.now();
  }

  async #close(): Promise<void> {
    let hasEnded = false;
    const closing = runAsync(() => this.#inner.close()).finally(() => (hasEnded = true));
    // Wait for the inner binding: views that it returns meanwhile are cached. If it hangs, the
    // cache closes after the time limit.
    await this.#limitTime(closing.catch(() => {}));
    await this.#store?.loading;
    this.#views.stop();
    await this.#store?.close();
    if (hasEnded) return closing;
    closing.catch(this.#onError);
    const late = `cache: '${this.#inner.name}' has not closed within ${STORE_TIMEOUT_MS} ms; the cache has`;
    return this.#onError(new CorrectableError('TIMEOUT', late));
  }

  /** Resolves when `work` does, or after the time limit of a store. */
  #limitTime(work: Promise<unknown>): Promise<unknown> {
    return new Promise((resolve) => {
      const timer = this.#clock.setTimer(() => resolve(undefined), STORE_TIMEOUT_MS);
      void work.then(resolve).finally(() => timer.cancel());
    });
  }
}

interface RequestOptions {
  readonly mapError?: (error: unknown) => unknown;
  readonly getFailureDelay?: () => Promise<unknown> | undefined;
}

const returnTrue = (): boolean => true;
const returnError = (error: unknown): unknown => error;
const returnUndefined = (): undefined => undefined;

/**
 * Returns the context of a submission with the inner session. A copy would create the signal, which
 * most stores never read.
 */
function withSession(context: InvocationContext, session: BindingSession): InvocationContext {
  return new Proxy(context, {
    get: (outer, name): unknown => (name === 'session' ? session : Reflect.get(outer, name)),
    set: (outer, name, value) => Reflect.set(outer, name, value),
  });
}

/** Copies the arguments, if they can be changed, so that no caller can change them later. */
function copyArgs(operation: Operation): {
  readonly operationCopy?: Operation;
  readonly copyError?: unknown;
} {
  try {
    return {
      operationCopy: {
        ...operation,
        args: copyPlainData(operation.args, 'args').value,
      },
    };
  } catch (copyError) {
    return { copyError };
  }
}
