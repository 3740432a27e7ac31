/**
 * The state machine of one operation (Correctables, OSDI 2016, Figure 3): `updating → (update)* → final | error`. The
 * binding sees it as its sink and its context; consumers see it through the Correctable. The table of states and
 * events, with the invariants C1–C15, is docs/spec/correctable.md.
 *
 * What is not for the binding is a function of this module, not a method.
 */
import type { Audience, AudienceExtras, ErrorCallback, ViewCallback } from './audience.ts';
import { attach, deliver, FAILURE, relax } from './audience.ts';
import type { BindingSession, InvocationContext, Sink, ViewDetails, Whereabouts } from './binding.ts';
import { isOlder as isOlderBySize, mergeDetails } from './binding.ts';
import { createDeadlineList, type DeadlineList } from './deadlines.ts';
import type { Done, PartExtras } from './effects.ts';
import { doneDespite, doneOf, NOTHING, UNSEEN, UPDATE } from './effects.ts';
import type { DropReason, Environment } from './environment.ts';
import { structurallyEqual } from './equal.ts';
import type { ErrorCode, ErrorDetails } from './errors.ts';
import { CorrectableError, detailsOf, isCorrectableError } from './errors.ts';
import { isThenable } from './given.ts';
import type { Ladder } from './ladder.ts';
import { NO_RANK, rankOf } from './ladder.ts';
import type { AnyView } from './view.ts';

/** How many values of one operation are kept for confirmations; older ones are forgotten. */
const KEPT_VALUES_MAX = 1024;

/** The key of a Correctable's source, inside the library only. */
export const SOURCE: unique symbol = Symbol('source');

/** The source of a Correctable of this copy of the library; `undefined` for anything else. */
export function sourceOf<T = unknown>(value: unknown): Source<T> | undefined {
  return (value as { [SOURCE]?: Source<T> } | null | undefined)?.[SOURCE];
}

export interface SourceOptions<T> {
  /** Whether one level may bring several views. */
  readonly refining?: boolean | undefined;
  readonly equals?: ((a: T, b: T) => boolean) | undefined;
  readonly isOlder?: ((version: unknown, than: unknown) => boolean) | undefined;
}

/** What few operations need, so that the others do not pay for it. */
interface Extras extends Omit<AudienceExtras, 'parts'>, PartExtras {
  controller?: AbortController;
  /** Why nobody waits any more, where the operation was given up: what the signal says. */
  givenUpFor?: CorrectableError;
  /** Values that the binding gave, by number, for later confirmations (C7). */
  kept?: Map<number, AnyView> | undefined;
  levelErrors?: Record<string, unknown>;
  /** `settle` or `when` has answered early: a later failure is no caller's error (C9). Holds the views that they took. */
  takenEarly?: Set<AnyView>;
}

/** What an operation is called. */
export interface Subject {
  readonly name: string;
  readonly key?: string | undefined;
}

const OPERATION: Subject = { name: 'operation' };

/** One class, whoever brings the views: engines run code for one shape of object faster than for several. */
export class Source<T> implements Audience<T>, Sink<T>, InvocationContext {
  readonly environment: Environment;
  readonly options: SourceOptions<T>;
  ladder: Ladder;
  state: 'updating' | 'final' | 'error' = 'updating';
  latest: AnyView<T> | undefined;
  /** The newest version among the views. */
  version: unknown;
  /** How many values the binding gave. */
  values = 0;
  extras: Extras | undefined;
  /** Run at closing, whatever the outcome. */
  cleanUps: (() => void)[] | undefined;
  promise: Promise<T> | undefined;

  observed = false;
  accepted = 0;
  isDelivering = false;
  seats: Audience<T>['seats'];
  onUpdate: ViewCallback<T> | undefined;
  onFinal: ViewCallback<T> | undefined;
  onError: ErrorCallback | undefined;

  /** When its time is up, by the clock. */
  dueAt: number | undefined;
  /** Where its deadline is guarded. */
  deadlines: DeadlineList | undefined;
  /** The operation, as messages name it. */
  subject: Subject = OPERATION;
  /** An update that was submitted cannot be called back: its outcome is unknown, never "not done" (C10). */
  done: Done = NOTHING;
  /** There for those that are invoked with one. */
  declare session: BindingSession | undefined;
  declare trace: unknown;
  declare idempotencyKey: string | undefined;
  declare levelSignals: Readonly<Record<string, AbortSignal>> | undefined;
  /** There where the binding says. */
  declare whereabouts: Whereabouts | undefined;

  constructor(ladder: Ladder, environment: Environment, options: SourceOptions<T>) {
    this.ladder = ladder;
    this.environment = environment;
    this.options = options;
  }

  update(value: T, level: string, details?: ViewDetails): number {
    const seq = this.values++;
    if (!isOpen(this, level)) return seq;
    if (isThenable(value)) {
      const done = doneOf(this);
      giveUp(this, done === UPDATE ? 'UNKNOWN' : 'INVALID_VALUE', 'await the promise, or use chain' + caveatOf(done));
    } else this.receive(seq, value, level, details);
    return seq;
  }

  confirm(level: string, seq: number, details?: ViewDetails): void {
    if (!isOpen(this, level)) return;
    const kept = this.latest?.seq === seq ? this.latest : this.extras?.kept?.get(seq);
    if (kept) this.receive(seq, kept.value as T, level, mergeDetails(kept, details));
    else giveUp(this, 'PROTOCOL', `view ${seq} was confirmed, but never delivered`);
  }

  fail(error: unknown, level?: string): void {
    if (!isOpen(this, level)) return;
    const { ladder } = this;
    const rank = level === undefined ? Infinity : rankOf(ladder, level);
    if (rank === NO_RANK) this.environment.drop('unknown-level', level);
    else if (level !== undefined) extrasOf(this).levelErrors = { ...this.extras?.levelErrors, [level]: error };
    if (rank >= ladder.strongest) failWith(this, explain(this, error, level));
  }

  expire(): void {
    giveUpWith(this, outcome(this, 'TIMEOUT', 'no final view in time'));
  }

  get deadlineAt(): number | undefined {
    return this.dueAt === undefined ? undefined : this.environment.wallAt(this.dueAt);
  }

  /** Aborted when nobody waits for views any more; made when first asked for. */
  get signal(): AbortSignal {
    const extras = extrasOf(this);
    if (!extras.controller) {
      extras.controller = new AbortController();
      if (extras.givenUpFor) extras.controller.abort(extras.givenUpFor);
    }
    return extras.controller.signal;
  }

  private receive(seq: number, value: T, level: string, details: ViewDetails | undefined): void {
    const { latest, ladder, environment, version: newest } = this;
    const { equals } = this.options;
    const version = details?.version;
    const meta = details?.meta;
    const rank = rankOf(ladder, level);
    const final = rank >= (details?.final ? 0 : ladder.strongest);
    const isOlder = this.options.isOlder ?? isOlderBySize;
    const older = version !== undefined && newest !== undefined && ask(environment, isOlder, version, newest);
    const reason = final ? undefined : reasonToDrop(this, rank, older);
    const confirms = !reason && latest !== undefined && isEqual(this, value, latest.value);
    // Values that only the operation holds for equal do not share one reference.
    const shared =
      confirms && (!equals || ask(environment, structurallyEqual, value, latest.value)) ? latest.value : value;
    const view = draft(shared, level, final, seq, confirms, environment.wallAt()) as Draft<T>;
    if (version !== undefined) view.version = version;
    if (meta !== undefined) view.meta = meta;
    if (final && older) view.regressed = true;
    if (reason) {
      keep(this, view as AnyView<T>);
      environment.drop(reason, level);
      return;
    }
    this.version = version ?? newest;
    this.latest = view as AnyView<T>;
    if (final) {
      // What is made of an operation may repeat a level, and counts with the operation.
      if (latest && !this.options.refining) environment.count(confirms ? 'confirmed' : 'corrected');
      for (const taken of this.extras?.takenEarly ?? []) judgeEarly(this, taken as AnyView<T>, view as AnyView<T>);
      close(this, 'final');
    } else if (latest) keep(this, latest);
    deliver(this, view as AnyView<T>);
  }
}

/** Counts and reports what became of a view that was taken before the final one (C9). */
function judgeEarly<T>(source: Source<T>, taken: AnyView<T>, final: AnyView<T>): void {
  const { environment } = source;
  const isRight = isEqual(source, final.value, taken.value);
  environment.count(isRight ? 'earlyConfirmed' : 'earlyCorrected');
  if (!isRight) environment.report({ type: 'late-correction', operation: source.subject, taken, final });
}

export function extrasOf<T>(source: Source<T>): Extras {
  return (source.extras ??= {});
}

/** The operation and its key, where it has one. */
export function nameOf({ name, key }: Subject): string {
  return key ? `${name} "${key}"` : name;
}

/** Closes with an error that the binding did not report, and lets the binding go. */
export function giveUp<T>(source: Source<T>, code: ErrorCode, message: string, details: ErrorDetails = {}): void {
  if (source.state !== 'updating') return;
  giveUpWith(source, withFacts(source, code, `${nameOf(source.subject)}: ${message}`, details));
}

function giveUpWith<T>(source: Source<T>, error: CorrectableError): void {
  if (source.state === 'updating') extrasOf(source).givenUpFor = error;
  failWith(source, error);
  letGo(source, error);
}

/** Tells the binding, by the signal, that nobody waits any more for what has failed. */
export function letGo<T>(source: Source<T>, error: CorrectableError): void {
  if (source.state !== 'error') return;
  const extras = extrasOf(source);
  extras.givenUpFor ??= error;
  extras.controller?.abort(error);
}

/** Closes with an error that the work came to. */
export function failWith<T>(source: Source<T>, error: CorrectableError): void {
  if (source.state !== 'updating') return;
  extrasOf(source).error = error;
  close(source, 'error');
  deliver(source, FAILURE);
  if (source.extras?.takenEarly) source.environment.report({ type: 'late-failure', error });
  else if (!source.observed) setTimeout(() => source.observed || void Promise.reject(error), 0);
}

/** Gives the operation up for all its consumers (C10). */
export function cancel<T>(source: Source<T>, cause?: unknown): void {
  giveUpWith(source, outcome(source, 'ABORTED', 'cancelled', { cause }));
}

/**
 * What is true of an operation that its client gives up (C10, C14): an update that may have taken effect is `UNKNOWN`; a
 * `TIMEOUT` while something is in the way is `UNAVAILABLE`, like that of an update that was never sent, or what is in the
 * way itself where asking again does not help.
 */
export function outcome<T>(
  source: Source<T>,
  code: 'TIMEOUT' | 'ABORTED',
  what: string,
  { level, cause }: ErrorDetails = {},
): CorrectableError {
  let mayHaveLeft: boolean | undefined;
  let obstacle: Whereabouts['obstacle'];
  let levelErrors: Whereabouts['levelErrors'];
  try {
    ({ mayHaveLeft, obstacle, levelErrors } = source.whereabouts ?? ({} as Partial<Whereabouts>));
  } catch (error) {
    // What the binding fails to say is not known.
    source.environment.uncaught(error);
  }
  const done = doneOf(source);
  const isUpdate = done === UPDATE;
  const isUnknown = isUpdate && mayHaveLeft !== false;
  const isUnavailable = code === 'TIMEOUT' && !isUnknown && (isUpdate || obstacle);
  const refusal = isUnavailable && !obstacle?.retryable ? obstacle : undefined;
  const fate = isUpdate && !isUnknown ? '; it was not sent' : caveatOf(done);
  return withFacts(
    source,
    isUnknown ? 'UNKNOWN' : isUnavailable ? (refusal?.code ?? 'UNAVAILABLE') : code,
    `${nameOf(source.subject)}: ${what}${fate}${obstacle ? `: ${obstacle.message}` : ''}`,
    {
      ...(refusal && detailsOf(refusal)),
      ...(done === UNSEEN && { retryable: false }),
      levelErrors,
      level,
      cause: cause ?? obstacle,
    },
  );
}

/** What a message adds about what may have been done. */
export function caveatOf(done: Done): string {
  return done === NOTHING ? '' : `; ${done === UPDATE ? 'the update' : 'a step of it'} may take effect all the same`;
}

/** The failure of one part, as it is true of the whole: who is told to ask again must not do another part twice. */
export function ofWhole<T, E>(source: Source<T>, error: E): E | CorrectableError {
  if (!isCorrectableError(error) || !(error.retryable || error.code === 'ABORTED')) return error;
  const done = doneOf(source);
  if (done === NOTHING) return error;
  const code = done === UPDATE ? 'UNKNOWN' : error.code;
  return withFacts(source, code, error.message + caveatOf(done), {
    level: error.level,
    retryable: false,
    cause: error,
  });
}

/** Fails the whole by what one of its parts failed with. */
export function failByPart<T>(source: Source<T>, error: unknown, level?: string): void {
  source.fail(ofWhole(source, error), level);
}

/** Gives up unless another end comes within `limitMs`. */
export function limit<T>(source: Source<T>, limitMs: number): void {
  const { clock, deadlines } = source.environment;
  let list = deadlines.get(limitMs);
  if (!list) deadlines.set(limitMs, (list = createDeadlineList(clock, () => deadlines.delete(limitMs))));
  // Not the tick's: the stretch of code that asks may have run for long.
  source.dueAt = clock.now() + limitMs;
  source.deadlines = list;
  list.add(source, limitMs);
  if (source.extras?.isRelaxed) list.hold(false);
}

/** Relaxes a source where one who listened has left, and a view was taken early before. */
export function relaxAgain<T>(source: Source<T>): void {
  if (source.extras?.takenEarly) relax(source);
}

/** Calls `cleanUp` when the source closes, with whatever outcome; where it has, once the outcome was told. */
export function onClose<T>(source: Source<T>, cleanUp: () => void): void {
  if (source.state !== 'updating') queueMicrotask(cleanUp);
  else (source.cleanUps ??= []).push(cleanUp);
}

/** The one promise of the final value; whoever asks for it sees a failure. */
export function promiseOf<T>(source: Source<T>): Promise<T> {
  source.observed = true;
  return (source.promise ??= new Promise((onFinal, onError) => {
    if (source.state === 'final') onFinal(source.latest!.value);
    else if (source.state === 'error') onError(source.extras?.error);
    else attach(source, undefined, onFinal, onError);
  }));
}

/** Where `work`, which brings the views, is a promise, the source closes with it. */
export function closeAfter<T>(source: Source<T>, work: unknown): void {
  if (!isThenable(work)) return;
  work.then(
    () => giveUp(source, 'CLOSED_WITHOUT_FINAL', 'no final view'),
    (error: unknown) => source.fail(error),
  );
}

function isEqual<T>(source: Source<T>, a: T, b: T): boolean {
  return Object.is(a, b) || ask(source.environment, source.options.equals ?? structurallyEqual, a, b);
}

/** What the application is asked and fails to say counts as no. */
function ask<V>(environment: Environment, question: (a: V, b: V) => boolean, a: V, b: V): boolean {
  try {
    return question(a, b);
  } catch (error) {
    environment.uncaught(error);
    return false;
  }
}

/** Whether a call of the sink still counts. */
function isOpen<T>(source: Source<T>, level: string | undefined): boolean {
  if (source.state === 'updating') return true;
  source.environment.drop('closed', level);
  return false;
}

/** A view while it is made; optional keys are there only where they say something. */
type Draft<T> = { -readonly [K in keyof AnyView<T>]: AnyView<T>[K] } & { regressed?: true };

const draft = (
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

// For the bar `invoke-vs-promise` of `npm run bench -- core`. Engines that have seen one without a time let the views of a
// tick share one number, where each would have its own: a tenth of the time of an invocation.
draft();

function reasonToDrop<T>({ latest, ladder, options }: Source<T>, rank: number, older: boolean): DropReason | undefined {
  const { all, requested } = ladder;
  if (rank === NO_RANK) return 'unknown-level';
  if (requested !== all && !requested.includes(all[rank]!)) return 'not-requested';
  const reached = latest ? rankOf(ladder, latest.level) : NO_RANK;
  if (rank < reached) return 'weaker';
  if (rank === reached && !options.refining) return 'repeated';
  return older ? 'older' : undefined;
}

function keep<T>(source: Source<T>, view: AnyView<T>): void {
  const kept = (extrasOf(source).kept ??= new Map());
  kept.set(view.seq, view);
  kept.delete(view.seq - KEPT_VALUES_MAX);
}

/** The error to close with: the binding's own where it says all, otherwise with the facts added (C6). */
function explain<T>(source: Source<T>, error: unknown, level: string | undefined): CorrectableError {
  if (!isCorrectableError(error)) {
    const message = `${nameOf(source.subject)}: the ${level ?? 'final'} view failed; see cause`;
    return withFacts(source, 'FINAL_FAILED', message, { level, cause: error });
  }
  if (!source.latest && !source.extras?.levelErrors) return error;
  return withFacts(source, error.code, error.message, { level, ...detailsOf(error), cause: error });
}

/** An error with what is known of the operation: its name and key, its latest view, its failed levels. */
export function withFacts<T>(
  source: Source<T>,
  code: ErrorCode,
  message: string,
  details: ErrorDetails,
): CorrectableError {
  const { name: operation, key } = source.subject;
  return new CorrectableError(code, message, {
    operation,
    key,
    ...details,
    lastView: source.latest ?? details.lastView,
    levelErrors: { ...details.levelErrors, ...source.extras?.levelErrors },
  });
}

/** The one transition (C1): whatever ends the operation comes here. */
function close<T>(source: Source<T>, state: 'final' | 'error'): void {
  source.state = state;
  if (source.extras || source.cleanUps || source.deadlines) tidyUp(source);
}

/** Apart, so that engines compile the delivery of a view without it as one piece. */
function tidyUp<T>(source: Source<T>): void {
  const { extras, cleanUps } = source;
  source.cleanUps = undefined;
  source.deadlines?.forget(!extras?.isRelaxed);
  if (extras) {
    source.done = doneDespite(extras.error, doneOf(source));
    extras.kept = extras.parts = extras.steps = extras.isRelaxed = undefined;
  }
  cleanUps?.forEach((cleanUp) => cleanUp());
}
