/**
 * The state machine of one operation (Correctables, OSDI 2016, Figure 3): `updating → (update)* →
 * final | error`. The binding sees it as its sink and its context; consumers see it through the
 * Correctable. The table of states and events, with the invariants COR-1–COR-15, is
 * docs/spec/correctable.md.
 *
 * The binding gets this object, so it has only the methods that a binding may call. Everything else
 * is a function of this module.
 */
import type {
  SubscriberList,
  SubscriberExtras,
  ErrorCallback,
  ViewCallback,
} from './subscribers.ts';
import { attachCallbacks, deliverView, FAILURE, unrefTimers } from './subscribers.ts';
import type {
  BindingSession,
  InvocationContext,
  Sink,
  ViewDetails,
  SubmissionStatus,
} from './binding.ts';
import { isOlder as isOlderBySize, mergeDetails } from './binding.ts';
import { DeadlineList } from './deadline-list.ts';
import type { EffectState, PartExtras } from './side-effects.ts';
import { getRemainingEffects, getEffectState, NO_EFFECT } from './side-effects.ts';
import type { DropReason, Environment } from './environment.ts';
import { structurallyEqual } from './structural-equality.ts';
import type { CorrectableError, ErrorCode, ErrorDetails } from './errors.ts';
import {
  createInterruptionError,
  createOperationError,
  formatLabel,
  toCompositeError,
  toFinalError,
  UNNAMED_OPERATION,
  type OperationLabel,
} from './operation-error.ts';
import { getForeignSource } from './copies/foreign-source.ts';
import { isThenable } from './validate.ts';
import type { LevelOrder } from './level-order.ts';
import { NO_RANK, getRank } from './level-order.ts';
import type { AnyView } from './view.ts';

/** How many values of one operation are kept for confirmations. Older ones are dropped. */
const MAX_CONFIRMABLE_VIEWS = 1024;

/**
 * For how many timeouts a client finds the list again. Most programs have a few timeouts, but one
 * that computes them may have any number.
 */
const MAX_DEADLINE_LISTS = 16;

/**
 * Returns the source of a Correctable of this copy of the package, or `undefined` for anything
 * else.
 */
export function getSource<T = unknown>(value: unknown): Source<T> | undefined {
  const source = getForeignSource(value);
  return source instanceof Source ? source : undefined;
}

export interface SourceOptions<T> {
  /** Whether one level may bring several views. */
  readonly isRefining?: boolean | undefined;
  readonly equals?: ((a: T, b: T) => boolean) | undefined;
  readonly isOlder?: ((version: unknown, than: unknown) => boolean) | undefined;
  /**
   * Creates the error of an operation that its client gives up. Default: an error that depends on
   * what may have taken effect
   */
  createSubmissionError?<U>(
    source: Source<U>,
    code: ErrorCode,
    message: string,
    details: ErrorDetails,
  ): CorrectableError;
}

/**
 * Fields that few operations need. They are apart, so that other operations do not pay for them.
 */
interface SourceExtras extends Omit<SubscriberExtras, 'parts'>, PartExtras {
  controller?: AbortController;
  /**
   * The reason with which the signal aborts, if the operation was abandoned because no caller waits
   * any more.
   */
  abandonReason?: CorrectableError;
  /** The values that the binding delivered, by number, for later confirmations (COR-7). */
  confirmableViews?: Map<number, AnyView> | undefined;
  levelErrors?: Record<string, unknown>;
  /**
   * The views that `settle` or `when` took early. If there are any, a later failure is no caller's
   * error (COR-9).
   */
  earlyViews?: Set<AnyView>;
}

/**
 * All sources of views share one class: engines run code for one shape of object faster than for
 * several.
 */
export class Source<T> implements SubscriberList<T>, Sink<T>, InvocationContext {
  readonly environment: Environment;
  readonly options: SourceOptions<T>;
  levelOrder: LevelOrder;
  state: 'pending' | 'final' | 'error' = 'pending';
  latest: AnyView<T> | undefined;
  /** The newest version of all views. */
  version: unknown;
  /** The number of values that the binding delivered. */
  valueCount = 0;
  extras: SourceExtras | undefined;
  /** Called when the source closes, with any outcome. */
  cleanUpCallbacks: (() => void)[] | undefined;
  promise: Promise<T> | undefined;

  isObserved = false;
  deliveryCount = 0;
  isDelivering = false;
  subscribers: SubscriberList<T>['subscribers'];
  onUpdate: ViewCallback<T> | undefined;
  onFinal: ViewCallback<T> | undefined;
  onError: ErrorCallback | undefined;

  /** The deadline, by the clock. */
  dueAt: number | undefined;
  /** The list that holds the deadline. */
  deadlines: DeadlineList | undefined;
  /** The name of the operation in messages. */
  label: OperationLabel = UNNAMED_OPERATION;
  /**
   * A submitted update cannot be called back: its outcome is unknown, never "not done" (COR-10).
   */
  effectState: EffectState = NO_EFFECT;
  /**
   * These fields exist only for operations that are invoked with them, so that others do not pay
   * for them.
   */
  declare session: BindingSession | undefined;
  declare trace: unknown;
  declare idempotencyKey: string | undefined;
  declare levelSignals: Readonly<Record<string, AbortSignal>> | undefined;
  /** Exists only if the binding sets it. */
  declare submissionStatus: SubmissionStatus | undefined;

  constructor(levelOrder: LevelOrder, environment: Environment, options: SourceOptions<T>) {
    this.levelOrder = levelOrder;
    this.environment = environment;
    this.options = options;
  }

  view(value: T, level: string, details?: ViewDetails): number {
    const seq = this.valueCount++;
    if (!isOpen(this, level)) return seq;
    if (isThenable(value)) interrupt(this, 'INVALID_VALUE', 'await the promise, or use chain');
    else this.acceptView(seq, value, level, details);
    return seq;
  }

  confirm(level: string, seq: number, details?: ViewDetails): void {
    if (!isOpen(this, level)) return;
    const retained =
      this.latest?.seq === seq ? this.latest : this.extras?.confirmableViews?.get(seq);
    if (retained) this.acceptView(seq, retained.value as T, level, mergeDetails(retained, details));
    else abandon(this, 'PROTOCOL', `view ${seq} was confirmed, but never delivered`);
  }

  fail(error: unknown, level?: string): void {
    if (!isOpen(this, level)) return;
    const { levelOrder } = this;
    const rank = level === undefined ? Infinity : getRank(levelOrder, level);
    if (rank === NO_RANK) this.environment.recordDrop('unknown-level', level);
    else if (level !== undefined)
      getExtras(this).levelErrors = {
        ...this.extras?.levelErrors,
        [level]: error,
      };
    if (rank >= levelOrder.strongestRank) failWith(this, toFinalError(this, error, level));
  }

  expire(): void {
    interrupt(this, 'TIMEOUT', 'no final view in time');
  }

  get deadlineAt(): number | undefined {
    return this.dueAt === undefined ? undefined : this.environment.getWallTime(this.dueAt);
  }

  /** Aborts when no caller waits for views any more. Created at the first access. */
  get signal(): AbortSignal {
    const extras = getExtras(this);
    const controller = (extras.controller ??= new AbortController());
    if (extras.abandonReason) controller.abort(extras.abandonReason);
    return controller.signal;
  }

  private acceptView(seq: number, value: T, level: string, details: ViewDetails | undefined): void {
    const { latest, levelOrder, environment, version: newest } = this;
    const { equals } = this.options;
    const version = details?.version;
    const meta = details?.meta;
    const rank = getRank(levelOrder, level);
    const final = rank >= (details?.final ? 0 : levelOrder.strongestRank);
    const isOlder = this.options.isOlder ?? isOlderBySize;
    const older =
      version !== undefined &&
      newest !== undefined &&
      callPredicate(environment, isOlder, version, newest);
    const reason = final ? undefined : getDropReason(this, rank, older);
    const confirms = !reason && latest !== undefined && isEqual(this, value, latest.value);
    // If two values are structurally equal, the new view gets the old reference. If only the
    // operation's own `equals` accepts them as equal, each view keeps its own value.
    const shared =
      confirms && (!equals || callPredicate(environment, structurallyEqual, value, latest.value))
        ? latest.value
        : value;
    const view = createDraft(
      shared,
      level,
      final,
      seq,
      confirms,
      environment.getWallTime(),
    ) as ViewDraft<T>;
    if (version !== undefined) view.version = version;
    if (meta !== undefined) view.meta = meta;
    if (final && (older || meta?.['regressed'] === true)) view.regressed = true;
    if (reason) {
      keepForConfirmation(this, view as AnyView<T>);
      environment.recordDrop(reason, level);
      return;
    }
    this.version = version ?? newest;
    this.latest = view as AnyView<T>;
    if (final) {
      // Views of a derived source are not counted. The operation that they are derived from is
      // counted already.
      if (latest && !this.options.isRefining)
        environment.count(confirms ? 'confirmed' : 'corrected');
      for (const taken of this.extras?.earlyViews ?? [])
        reportEarlyView(this, taken as AnyView<T>, view as AnyView<T>);
      closeSource(this, 'final');
    } else if (latest) keepForConfirmation(this, latest);
    deliverView(this, view as AnyView<T>);
  }
}

/** Counts and reports whether the final view confirmed a view that was taken early (COR-9). */
function reportEarlyView<T>(source: Source<T>, earlyView: AnyView<T>, final: AnyView<T>): void {
  const { environment } = source;
  const isRight = isEqual(source, final.value, earlyView.value);
  environment.count(isRight ? 'earlyConfirmed' : 'earlyCorrected');
  if (!isRight)
    environment.report({
      type: 'late-correction',
      operation: source.label,
      earlyView,
      final,
    });
}

export function getExtras<T>(source: Source<T>): SourceExtras {
  return (source.extras ??= {});
}

/** Closes with an error that the binding did not report, and aborts the submission. */
export function abandon<T>(
  source: Source<T>,
  code: ErrorCode,
  message: string,
  details: ErrorDetails = {},
): void {
  if (source.state !== 'pending') return;
  abandonWith(
    source,
    createOperationError(source, code, `${formatLabel(source.label)}: ${message}`, details),
  );
}

/** Like `abandon`, but the error accounts for what may have been done. */
export function interrupt<T>(
  source: Source<T>,
  code: ErrorCode,
  description: string,
  details?: ErrorDetails,
): void {
  abandonWith(source, createAbandonError(source, code, description, details));
}

function abandonWith<T>(source: Source<T>, error: CorrectableError): void {
  if (source.state === 'pending') getExtras(source).abandonReason = error;
  failWith(source, error);
  abortSubmission(source, error);
}

/**
 * Aborts the signal of a failed operation, so that the binding learns that no caller waits any
 * more.
 */
export function abortSubmission<T>(source: Source<T>, error: CorrectableError): void {
  if (source.state !== 'error') return;
  const extras = getExtras(source);
  extras.abandonReason ??= error;
  extras.controller?.abort(error);
}

/** Closes the source with `error`. */
export function failWith<T>(source: Source<T>, error: CorrectableError): void {
  if (source.state !== 'pending') return;
  getExtras(source).error = error;
  closeSource(source, 'error');
  deliverView(source, FAILURE);
  if (source.extras?.earlyViews) source.environment.report({ type: 'late-failure', error });
  else if (!source.isObserved)
    // oxlint-disable-next-line no-restricted-globals -- no user passes this delay
    setTimeout(() => source.isObserved || void Promise.reject(error));
}

/** Cancels the operation for all its consumers (COR-10). */
export function cancelSource<T>(source: Source<T>, cause?: unknown): void {
  interrupt(source, 'ABORTED', 'cancelled', { cause });
}

/**
 * Creates the error of an operation that is given up. An update that may have taken effect is
 * `UNKNOWN` (COR-10, COR-14).
 */
export function createAbandonError<T>(
  source: Source<T>,
  code: ErrorCode,
  description: string,
  details: ErrorDetails = {},
): CorrectableError {
  const message = `${formatLabel(source.label)}: ${description}`;
  const create = source.options.createSubmissionError ?? createInterruptionError;
  return create(source, code, message, details);
}

/** Fails the whole with the failure of one of its parts. */
export function failFromPart<T>(source: Source<T>, error: unknown, level?: string): void {
  source.fail(toCompositeError(source, error), level);
}

/** Gives up after `limitMs` unless the source closes before. */
export function setTimeLimit<T>(source: Source<T>, limitMs: number): void {
  const { clock, deadlines } = source.environment;
  let list = deadlines.get(limitMs);
  if (!list) {
    // Lists that are no longer in the map still expire their operations.
    if (deadlines.size === MAX_DEADLINE_LISTS) deadlines.clear();
    deadlines.set(limitMs, (list = new DeadlineList(clock)));
  }
  // The time of the current tick may be old if the code before this call ran for long.
  source.dueAt = clock.now() + limitMs;
  source.deadlines = list;
  list.add(source, limitMs);
  if (source.extras?.isUnref) list.setRef(false);
}

/**
 * Lets timers keep no process alive any more if a view was taken early. Called when a listener has
 * left.
 */
export function unrefTimersIfTakenEarly<T>(source: Source<T>): void {
  if (source.extras?.earlyViews) unrefTimers(source);
}

/**
 * Calls `cleanUp` when the source closes, with any outcome. If it is closed already, calls it after
 * the delivery.
 */
export function addCleanUp<T>(source: Source<T>, cleanUp: () => void): void {
  if (source.state !== 'pending') queueMicrotask(cleanUp);
  else (source.cleanUpCallbacks ??= []).push(cleanUp);
}

/** Returns the one promise of the final value. Its caller observes a failure. */
export function getPromise<T>(source: Source<T>): Promise<T> {
  source.isObserved = true;
  return (source.promise ??= new Promise((onFinal, onError) => {
    if (source.state === 'final') onFinal(source.latest!.value);
    else if (source.state === 'error') onError(source.extras?.error);
    else attachCallbacks(source, undefined, onFinal, onError);
  }));
}

/** If `work` is a promise, closes the source when that ends. `work` delivers the views. */
export function closeAfter<T>(source: Source<T>, work: unknown): void {
  if (!isThenable(work)) return;
  work.then(
    () => abandon(source, 'CLOSED_WITHOUT_FINAL', 'no final view'),
    (error: unknown) => source.fail(error),
  );
}

function isEqual<T>(source: Source<T>, a: T, b: T): boolean {
  return (
    Object.is(a, b) ||
    callPredicate(source.environment, source.options.equals ?? structurallyEqual, a, b)
  );
}

/** Calls a predicate of the application. If it throws, the answer counts as false. */
function callPredicate<V>(
  environment: Environment,
  question: (a: V, b: V) => boolean,
  a: V,
  b: V,
): boolean {
  try {
    return question(a, b);
  } catch (error) {
    environment.reportUncaught(error);
    return false;
  }
}

/** Returns whether a call of the sink still has an effect. If not, it counts as dropped. */
function isOpen<T>(source: Source<T>, level: string | undefined): boolean {
  if (source.state === 'pending') return true;
  source.environment.recordDrop('closed', level);
  return false;
}

/** A view while it is created. Optional keys are present only if they have a value. */
type ViewDraft<T> = { -readonly [K in keyof AnyView<T>]: AnyView<T>[K] } & {
  regressed?: true;
};

const createDraft = (
  value?: unknown,
  level?: string,
  final?: boolean,
  seq?: number,
  confirms?: boolean,
  at?: number,
): object => ({
  value,
  level,
  final,
  seq,
  confirms,
  at,
});

// Create one draft without a time before any other. Engines then let all views of one tick share
// one number object for the time. Otherwise they create one for each view, which takes a tenth of
// the time of an invocation. See `invoke-vs-promise` of `npm run bench -- core`.
createDraft();

function getDropReason<T>(
  { latest, levelOrder, options }: Source<T>,
  rank: number,
  older: boolean,
): DropReason | undefined {
  const { all, requested } = levelOrder;
  if (rank === NO_RANK) return 'unknown-level';
  if (requested !== all && !requested.includes(all[rank]!)) return 'not-requested';
  const reached = latest ? getRank(levelOrder, latest.level) : NO_RANK;
  if (rank < reached) return 'weaker';
  if (rank === reached && !options.isRefining) return 'repeated';
  return older ? 'older' : undefined;
}

function keepForConfirmation<T>(source: Source<T>, view: AnyView<T>): void {
  const retained = (getExtras(source).confirmableViews ??= new Map());
  retained.set(view.seq, view);
  retained.delete(view.seq - MAX_CONFIRMABLE_VIEWS);
}

/** The only transition (COR-1): every end of an operation comes here. */
function closeSource<T>(source: Source<T>, state: 'final' | 'error'): void {
  source.state = state;
  if (source.extras || source.cleanUpCallbacks || source.deadlines) cleanUp(source);
}

/**
 * This is a separate function, so that engines compile the delivery of a view without it, as one
 * piece.
 */
function cleanUp<T>(source: Source<T>): void {
  const { extras, cleanUpCallbacks } = source;
  source.cleanUpCallbacks = undefined;
  source.deadlines?.remove(!extras?.isUnref);
  if (extras) {
    source.effectState = getRemainingEffects(extras.error, getEffectState(source));
    extras.confirmableViews = extras.parts = extras.futureEffects = extras.isUnref = undefined;
  }
  cleanUpCallbacks?.forEach((cleanUp) => cleanUp());
}
