/**
 * The state machine of one Correctable (Correctables, OSDI 2016, Figure 3): `updating → (update)* → final | error`.
 * The binding sees it as its sink; consumers see it through the Correctable. The table of states and events, with the
 * invariants C1–C14, is docs/spec/correctable.md.
 */
import type { Extras, KeptValue } from './audience.ts';
import { Audience } from './audience.ts';
import type { Sink, ViewDetails } from './binding.ts';
import type { DeadlineList, Limited } from './deadlines.ts';
import type { DropReason, Environment } from './environment.ts';
import { structurallyEqual } from './equal.ts';
import type { ErrorCode } from './errors.ts';
import { CorrectableError, isCorrectableError } from './errors.ts';
import type { Ladder } from './ladder.ts';
import { reportIfUnobserved } from './unobserved.ts';
import { isOlder, isThenable, mergeDetails, withDetails } from './values.ts';
import type { AnyView } from './view.ts';

/** How many values of one operation are kept for confirmations; older ones are forgotten. */
const KEPT_VALUES_MAX = 1024;

export interface SourceOptions<T> {
  /** Whether one level may bring several views. */
  readonly refining?: boolean | undefined;
  readonly equals?: ((a: T, b: T) => boolean) | undefined;
  readonly isOlder?: ((version: unknown, than: unknown) => boolean) | undefined;
}

export class Source<T> extends Audience<T> implements Sink<T>, Limited {
  readonly environment: Environment;
  readonly ladder: Ladder;
  readonly options: SourceOptions<T> | undefined;
  private values = 0;
  /** When the operation times out: milliseconds since the epoch. */
  deadlineAt: number | undefined = undefined;
  earlier: Limited | undefined = undefined;
  later: Limited | undefined = undefined;
  private deadlines: DeadlineList | undefined = undefined;

  constructor(ladder: Ladder, environment: Environment, options?: SourceOptions<T>) {
    super();
    this.environment = environment;
    this.ladder = ladder;
    this.options = options;
  }

  update(value: T, level: string, details?: ViewDetails): number {
    const seq = this.values++;
    if (this.state === 'updating' && !isThenable(value)) this.receive(seq, value, level, details);
    else this.refuse(level);
    return seq;
  }

  confirm(level: string, seq: number, details?: ViewDetails): void {
    const kept = this.latest?.seq === seq ? this.latest : this.extras?.kept?.get(seq);
    if (this.state !== 'updating') this.environment.drop('closed', level);
    else if (kept !== undefined) this.receive(seq, kept.value as T, level, mergeDetails(kept, details));
    else this.close('PROTOCOL', `View ${seq} was confirmed but never sent: report it to the author of the binding`);
  }

  fail(error: unknown, level?: string): void {
    const rank = level === undefined ? Infinity : this.ladder.rankOf(level);
    if (this.state !== 'updating') this.environment.drop('closed', level);
    else if (rank < 0) this.environment.drop('unknown-level', level);
    else {
      if (level !== undefined) this.more().levelErrors = { ...this.extras?.levelErrors, [level]: error };
      if (rank >= this.ladder.strongest) this.failWith(this.explain(error, level));
    }
  }

  /** Closes with an error of this library, and tells the binding that nobody waits any more. */
  close(code: ErrorCode, message: string, cause?: unknown, retryable?: boolean): void {
    if (this.state !== 'updating') return;
    const { latest: lastView, extras } = this;
    const error = new CorrectableError(code, message, { cause, retryable, lastView, levelErrors: extras?.levelErrors });
    this.failWith(error);
    extras?.controller?.abort(error);
  }

  failWith(error: CorrectableError): void {
    if (this.state !== 'updating') return;
    this.more().error = error;
    this.end('error');
    this.deliver(undefined);
    if (this.extras?.answeredEarly === true) this.environment.report({ type: 'late-failure', error });
    else if (!this.observed) reportIfUnobserved(this);
  }

  /** Ends the operation for its consumers (C10). Overridden where it may have taken effect. */
  cancel(reason?: unknown): void {
    this.close('ABORTED', 'Cancelled', reason);
  }

  onAbort(reason: unknown): void {
    this.cancel(reason);
  }

  /** Closes with `TIMEOUT` unless another end comes within `limitMs`. */
  limit(limitMs: number): void {
    this.deadlineAt = this.environment.tickAt() + limitMs;
    this.deadlines = this.environment.deadlinesAfter(limitMs);
    this.deadlines.add(this);
  }

  expire(): void {
    this.close('TIMEOUT', 'No final view in time: raise timeoutMs, or settle for lastView');
  }

  /** Whether it guards its deadline itself. */
  get isLimited(): boolean {
    return this.deadlines !== undefined;
  }

  /** Aborted when nobody waits for views any more; made when first asked for. */
  get signal(): AbortSignal {
    const extras = this.more();
    if (extras.controller === undefined) {
      extras.controller = new AbortController();
      if (this.state === 'error') extras.controller.abort(this.error);
    }
    return extras.controller.signal;
  }

  /** Calls `cleanUp` when the source closes, with whatever outcome. */
  onClose(cleanUp: () => void): void {
    (this.more().cleanUps ??= []).push(cleanUp);
  }

  isEqual(a: T, b: T): boolean {
    return Object.is(a, b) || this.isEqualBy(a, b);
  }

  /** What every kind of source does when it closes. */
  protected onClosed(): void {
    this.deadlines?.remove(this);
    if (this.extras !== undefined) cleanUp(this.extras);
  }

  private refuse(level: string): void {
    if (this.state !== 'updating') this.environment.drop('closed', level);
    else this.close('INVALID_VALUE', 'value: await the promise first, or use chain');
  }

  /** Kept short, with what is rare elsewhere: engines then compile a delivery as one piece. */
  private receive(seq: number, value: T, level: string, details: ViewDetails | undefined): void {
    const { latest, ladder } = this;
    const rank = ladder.rankOf(level);
    const final = rank >= ladder.strongest;
    const older = details !== undefined && this.isOlder(details.version);
    const reason = final ? undefined : this.reasonToDrop(rank, older);
    if (reason !== undefined) {
      this.keep(seq, { ...details, value });
      this.environment.drop(reason, level);
      return;
    }
    const confirms = latest !== undefined && this.isEqual(value, latest.value);
    const shown = confirms && this.isSame(value, latest.value) ? latest.value : value;
    let view: AnyView<T> = { value: shown, level, final, seq, confirms, at: this.environment.tickAt() };
    if (details !== undefined) view = withDetails(view, details, final && older);
    this.latest = view;
    if (final) this.end('final');
    else if (latest !== undefined) this.retire(latest);
    this.deliver(view);
  }

  private reasonToDrop(rank: number, older: boolean): DropReason | undefined {
    const { latest, ladder } = this;
    if (ladder.requestedAt[rank] !== true) return rank < 0 ? 'unknown-level' : 'not-requested';
    if (latest === undefined) return undefined;
    const reached = ladder.rankOf(latest.level);
    if (rank < reached) return 'weaker';
    if (rank === reached && this.options?.refining !== true) return 'repeated';
    return older ? 'older' : undefined;
  }

  private isOlder(version: unknown): boolean {
    const newest = this.latest?.version ?? this.extras?.newestVersion;
    if (version === undefined || newest === undefined) return false;
    return (this.options?.isOlder ?? isOlder)(version, newest);
  }

  private isEqualBy(a: T, b: T): boolean {
    const equals = this.options?.equals;
    if (equals === undefined) return structurallyEqual(a, b);
    try {
      return equals(a, b);
    } catch (error) {
      this.environment.uncaught(error);
      return false;
    }
  }

  /** Whether two values that count as equal may share one reference. */
  private isSame(value: T, known: T): boolean {
    return this.options?.equals === undefined || structurallyEqual(value, known);
  }

  /** What must be known of a view once another has taken its place. */
  private retire(view: AnyView<T>): void {
    if (view.version !== undefined) this.more().newestVersion = view.version;
    this.keep(view.seq, view);
  }

  private keep(seq: number, value: KeptValue): void {
    const kept = (this.more().kept ??= new Map());
    kept.set(seq, value);
    if (seq >= KEPT_VALUES_MAX) kept.delete(seq - KEPT_VALUES_MAX);
  }

  /** The error to close with: the binding's own where it says all, otherwise with the facts added (C6). */
  private explain(error: unknown, level: string | undefined): CorrectableError {
    const own = isCorrectableError(error) ? error : undefined;
    const lastView = this.latest ?? own?.lastView;
    const levelErrors = this.extras?.levelErrors ?? own?.levelErrors;
    if (own !== undefined && own.lastView === lastView && own.levelErrors === levelErrors) return own;
    const code = own?.code ?? 'FINAL_FAILED';
    const message = own?.message ?? `The ${level ?? 'final'} view failed; see cause`;
    return new CorrectableError(code, message, { level, ...own, lastView, levelErrors, cause: error });
  }

  private end(state: 'final' | 'error'): void {
    this.state = state;
    this.onClosed();
  }
}

function cleanUp(extras: Extras): void {
  const { cleanUps } = extras;
  delete extras.kept;
  delete extras.cleanUps;
  if (cleanUps !== undefined) for (const leave of cleanUps) leave();
}
