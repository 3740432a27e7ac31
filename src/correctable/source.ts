/**
 * The state machine of one Correctable (Correctables, OSDI 2016, Figure 3): `updating → (update)* → final | error`.
 * A binding sees it as its sink, consumers see it through the Correctable, listeners hang on it. The table of states
 * and events, with the invariants C1–C14, is docs/spec/correctable.md.
 */
import type { Sink, ViewDetails } from './binding.ts';
import type { DeadlineList, Expiring } from './deadlines.ts';
import { cancelDeadline } from './deadlines.ts';
import type { Environment } from './environment.ts';
import { structurallyEqual } from './equal.ts';
import type { ErrorCode } from './errors.ts';
import { CorrectableError, isCorrectableError } from './errors.ts';
import type { Ladder } from './ladder.ts';
import type { Listener } from './listener.ts';
import { LEFT, PromiseListener } from './listener.ts';
import { reportIfUnobserved } from './unobserved.ts';
import { isOlder, isThenable, makeView, mergeDetails } from './values.ts';
import type { AnyView } from './view.ts';

export type State = 'updating' | 'final' | 'error';

/** A value that the binding gave, kept for later confirmations (C7). */
export interface KeptValue<T> extends ViewDetails {
  readonly value: T;
}

/** How many values of one operation are kept for confirmations; older ones are forgotten. */
const KEPT_VALUES_MAX = 1024;

export interface SourceOptions<T> {
  /** Whether one level may bring several views. */
  readonly refining?: boolean | undefined;
  readonly equals?: ((a: T, b: T) => boolean) | undefined;
  readonly isOlder?: ((version: unknown, than: unknown) => boolean) | undefined;
}

/** What few operations need, so that the others do not pay for it. */
interface Extras<T> {
  kept?: Map<number, KeptValue<T>>;
  levelErrors?: Record<string, unknown>;
  /** Deliveries that arose inside a delivery; `undefined` stands for the failure. */
  queue?: (AnyView<T> | undefined)[];
  controller?: AbortController;
  /** Runs at closing, whatever the outcome. */
  onClose?: (() => void)[];
  /** Runs callbacks in the async context of the invocation. */
  runInContext?: (callback: () => void) => void;
  /** A view was taken early by `settle` or `when`: a later failure is nobody's error. */
  answeredEarly?: boolean;
}

export class Source<T> implements Sink<T>, Expiring {
  readonly ladder: Ladder;
  readonly environment: Environment;
  state: State = 'updating';
  latest: AnyView<T> | undefined = undefined;
  error: CorrectableError | undefined = undefined;
  /** Whether somebody sees a failure of this source (C5). */
  observed = false;
  /** Views and failures accepted so far, delivered or queued for delivery. */
  accepted = 0;
  extras: Extras<T> | undefined = undefined;
  deadlineAt: number | undefined = undefined;
  deadlineList: DeadlineList | undefined = undefined;
  earlier: Expiring | undefined = undefined;
  later: Expiring | undefined = undefined;
  readonly #options: SourceOptions<T> | undefined;
  #values = 0;
  #newestVersion: unknown = undefined;
  #head: Listener<T> | undefined = undefined;
  #tail: Listener<T> | undefined = undefined;
  #delivering = false;
  #promise: Promise<T> | undefined = undefined;

  constructor(ladder: Ladder, environment: Environment, options?: SourceOptions<T>) {
    this.ladder = ladder;
    this.environment = environment;
    this.#options = options;
  }

  // --- the sink ---

  update(value: T, level: string, details?: ViewDetails): number {
    const seq = this.#values++;
    if (this.state !== 'updating') this.environment.drop('closed', level);
    else if (isThenable(value)) this.#failOnThenable(level);
    else this.#receive(seq, value, level, details);
    return seq;
  }

  confirm(level: string, seq: number, details?: ViewDetails): void {
    if (this.state !== 'updating') {
      this.environment.drop('closed', level);
      return;
    }
    const kept = this.latest?.seq === seq ? this.latest : this.extras?.kept?.get(seq);
    if (kept === undefined) {
      this.close(
        'PROTOCOL',
        `The binding confirmed a view that it never sent (number ${seq}); report it to its author`,
      );
    } else {
      this.#receive(seq, kept.value, level, mergeDetails(kept, details));
    }
  }

  fail(error: unknown, level?: string): void {
    if (this.state !== 'updating') {
      this.environment.drop('closed', level);
      return;
    }
    if (level !== undefined) {
      const rank = this.ladder.rankOf(level);
      if (rank < 0) {
        this.environment.drop('unknown-level', level);
        return;
      }
      const { levelErrors } = this.more();
      this.more().levelErrors = { ...levelErrors, [level]: error };
      if (rank < this.ladder.strongest) return;
    }
    this.failWith(this.#explain(error, level));
  }

  // --- closing ---

  /** Closes with an error of this library, and tells the binding that nobody waits any more. */
  close(code: ErrorCode, message: string, cause?: unknown, retryable?: boolean): void {
    if (this.state !== 'updating') return;
    const details = { retryable, lastView: this.latest, levelErrors: this.extras?.levelErrors };
    const error = new CorrectableError(code, message, cause === undefined ? details : { ...details, cause });
    this.failWith(error);
    this.extras?.controller?.abort(error);
  }

  failWith(error: CorrectableError): void {
    if (this.state !== 'updating') return;
    this.state = 'error';
    this.error = error;
    this.#release();
    this.#deliver(undefined);
    if (this.extras?.answeredEarly === true) this.environment.report({ type: 'late-failure', error });
    else if (!this.observed) reportIfUnobserved(this);
  }

  /** Ends the operation for its consumers (C10). Overridden where the operation may have taken effect. */
  cancel(reason?: unknown): void {
    this.close('ABORTED', 'Cancelled by the application', reason);
  }

  onAbort(reason: unknown): void {
    this.cancel(reason);
  }

  expire(): void {
    this.close('TIMEOUT', 'No final view within the time limit; retry, raise timeoutMs, or settle for lastView');
  }

  get signal(): AbortSignal {
    const extras = this.more();
    if (extras.controller === undefined) {
      extras.controller = new AbortController();
      if (this.state === 'error') extras.controller.abort(this.error);
    }
    return extras.controller.signal;
  }

  more(): Extras<T> {
    return (this.extras ??= {});
  }

  /** Calls `cleanUp` when the source closes, with whatever outcome. */
  onClose(cleanUp: () => void): void {
    (this.more().onClose ??= []).push(cleanUp);
  }

  // --- the consumers ---

  join(listener: Listener<T>): void {
    if (this.state !== 'updating') {
      queueMicrotask(() => this.#tellOutcome(listener));
      return;
    }
    listener.joinedAt = this.accepted;
    listener.before = this.#tail;
    if (this.#tail === undefined) this.#head = listener;
    else this.#tail.after = listener;
    this.#tail = listener;
    if (this.latest !== undefined) {
      listener.missed = this.latest;
      queueMicrotask(() => this.#catchUp(listener));
    }
  }

  leave(listener: Listener<T>): void {
    if (listener.joinedAt === LEFT) return;
    listener.joinedAt = LEFT;
    listener.missed = undefined;
    const { before, after } = listener;
    if (before !== undefined) before.after = after;
    else if (this.#head === listener) this.#head = after;
    if (after !== undefined) after.before = before;
    else if (this.#tail === listener) this.#tail = before;
    listener.before = undefined;
    // A delivery under way may stand on this listener and needs the way on.
    if (!this.#delivering) listener.after = undefined;
  }

  /** The one promise of the final value; whoever asks for it sees a failure. */
  promise(): Promise<T> {
    this.observed = true;
    if (this.#promise === undefined) {
      if (this.state === 'final') this.#promise = Promise.resolve(this.latest!.value);
      else if (this.state === 'error') this.#promise = Promise.reject(this.error);
      else {
        const listener = new PromiseListener<T>();
        this.#promise = listener.promise;
        this.#joinSilently(listener);
      }
    }
    return this.#promise;
  }

  isEqual(a: T, b: T): boolean {
    if (Object.is(a, b)) return true;
    const equals = this.#options?.equals;
    if (equals === undefined) return structurallyEqual(a, b);
    try {
      return equals(a, b);
    } catch (error) {
      this.environment.uncaught(error);
      return false;
    }
  }

  // --- inside ---

  #failOnThenable(level: string): void {
    this.close('INVALID_VALUE', `A promise or Correctable is no value of a view (level "${level}"): use chain instead`);
  }

  #receive(seq: number, value: T, level: string, details: ViewDetails | undefined): void {
    const { latest } = this;
    const rank = this.ladder.rankOf(level);
    const final = rank >= this.ladder.strongest;
    const version = details?.version;
    const older = version !== undefined && this.#newestVersion !== undefined && this.#isOlder(version);
    if (!final) {
      const reason = this.#reasonToDrop(rank, level, older);
      if (reason !== undefined) {
        this.#keep(seq, { ...details, value });
        this.environment.drop(reason, level);
        return;
      }
    }
    let confirms = false;
    let kept = value;
    if (latest !== undefined) {
      confirms = this.isEqual(value, latest.value);
      if (this.#options?.equals === undefined ? confirms : structurallyEqual(value, latest.value)) kept = latest.value;
      if (!final) this.#keep(latest.seq, latest);
    }
    const view = makeView(kept, level, final, seq, confirms, this.environment.tickAt(), details, final && older);
    if (version !== undefined) this.#newestVersion = version;
    this.latest = view;
    if (final) {
      this.state = 'final';
      this.#release();
    }
    this.#deliver(view);
  }

  get isOlderVersion(): SourceOptions<T>['isOlder'] {
    return this.#options?.isOlder;
  }

  #reasonToDrop(
    rank: number,
    level: string,
    older: boolean,
  ): 'unknown-level' | 'not-requested' | 'weaker' | 'repeated' | 'older' | undefined {
    if (rank < 0) return 'unknown-level';
    if (!this.ladder.isRequested(level)) return 'not-requested';
    if (this.latest !== undefined) {
      const reached = this.ladder.rankOf(this.latest.level);
      if (rank < reached) return 'weaker';
      if (rank === reached && this.#options?.refining !== true) return 'repeated';
    }
    return older ? 'older' : undefined;
  }

  #isOlder(version: unknown): boolean {
    return (this.#options?.isOlder ?? isOlder)(version, this.#newestVersion);
  }

  #keep(seq: number, kept: KeptValue<T>): void {
    const values = (this.more().kept ??= new Map());
    values.set(seq, kept);
    if (seq >= KEPT_VALUES_MAX) values.delete(seq - KEPT_VALUES_MAX);
  }

  /** The error to close with: the binding's own where it says enough, otherwise with the facts added (C6). */
  #explain(error: unknown, level: string | undefined): CorrectableError {
    const own = isCorrectableError(error) ? error : undefined;
    const levelErrors = this.extras?.levelErrors;
    if (own !== undefined && this.latest === undefined && levelErrors === undefined) return own;
    const message = own?.message ?? `The ${level ?? this.ladder.all[this.ladder.strongest]!} view failed; see cause`;
    return new CorrectableError(own?.code ?? 'FINAL_FAILED', message, {
      retryable: own?.retryable,
      retryAfterMs: own?.retryAfterMs,
      field: own?.field,
      level: own?.level ?? level,
      lastView: this.latest ?? own?.lastView,
      levelErrors: levelErrors ?? own?.levelErrors,
      cause: error,
    });
  }

  #release(): void {
    if (this.deadlineList !== undefined) cancelDeadline(this);
    const { extras } = this;
    if (extras === undefined) return;
    delete extras.kept;
    const cleanUps = extras.onClose;
    extras.onClose = [];
    if (cleanUps !== undefined) for (const cleanUp of cleanUps) cleanUp();
  }

  #deliver(view: AnyView<T> | undefined): void {
    this.accepted++;
    if (this.#delivering) {
      (this.more().queue ??= []).push(view);
      return;
    }
    if (this.#head === undefined) return;
    this.#delivering = true;
    this.#tellAll(view, this.accepted);
    const queue = this.extras?.queue;
    while (queue !== undefined && queue.length > 0) {
      const number = this.accepted - queue.length + 1;
      this.#tellAll(queue.shift(), number);
    }
    this.#delivering = false;
    if (this.state !== 'updating') {
      this.#head = undefined;
      this.#tail = undefined;
    }
  }

  #tellAll(view: AnyView<T> | undefined, number: number): void {
    for (let listener = this.#head; listener !== undefined; listener = listener.after) {
      if (listener.joinedAt >= number) continue;
      if (listener.missed !== undefined) this.#catchUp(listener);
      if (listener.joinedAt !== LEFT) this.#tell(listener, view);
    }
  }

  #catchUp(listener: Listener<T>): void {
    const { missed } = listener;
    if (missed === undefined) return;
    listener.missed = undefined;
    this.#tell(listener, missed);
  }

  #tellOutcome(listener: Listener<T>): void {
    if (listener.joinedAt !== LEFT) this.#tell(listener, this.state === 'final' ? this.latest : undefined);
  }

  #tell(listener: Listener<T>, view: AnyView<T> | undefined): void {
    const run = this.extras?.runInContext;
    if (run !== undefined) run(() => this.#call(listener, view));
    else this.#call(listener, view);
  }

  #call(listener: Listener<T>, view: AnyView<T> | undefined): void {
    try {
      if (view === undefined) listener.onFailure(this.error!);
      else listener.onView(view);
    } catch (error) {
      this.environment.uncaught(error);
    }
  }

  /** For listeners that want no earlier view: only what follows. */
  #joinSilently(listener: Listener<T>): void {
    this.join(listener);
    listener.missed = undefined;
  }
}
