/**
 * The sink of the suite. It records all events of one submission before a client can drop any of
 * them.
 */
import {
  type SubmissionOrigin,
  isOlder,
  type Binding,
  type InvocationContext,
  type Sink,
  type ViewDetails,
} from '../../correctable/binding.ts';
import { isThenable } from '../../correctable/validate.ts';
import type { Operation } from '../../correctable/operation.ts';
import { assertHolds, formatOperation, formatValue, formatError } from './test-context.ts';

interface RecordedView {
  readonly level: string;
  readonly value: unknown;
  readonly version: unknown;
  readonly isFinal: boolean;
  /** The text of the value when it was delivered. */
  readonly text: string;
}

interface ContextOptions {
  readonly signal?: AbortSignal;
  readonly operationId?: string | undefined;
  readonly origin?: SubmissionOrigin | undefined;
  readonly idempotencyKey?: string | undefined;
}

export class ViewRecorder implements Sink {
  readonly operation: Operation;
  readonly requested: readonly string[];
  readonly views: RecordedView[] = [];
  /** The error with which the whole operation failed. */
  error: unknown;
  /** Resolves at the first final view or failure of the whole operation. */
  readonly closed: Promise<void>;
  isClosed = false;
  readonly #binding: Binding;
  readonly #levels: readonly string[];
  /** The level weaker than its final with which an update failed. */
  #failedBy: string | undefined;
  #unreportedError: number | undefined;
  readonly #values: { value: unknown; version: unknown }[] = [];
  #close!: () => void;

  private constructor(binding: Binding, operation: Operation, requested: readonly string[]) {
    this.#binding = binding;
    this.#levels = binding.consistencyLevels();
    this.operation = operation;
    this.requested = requested;
    this.closed = new Promise((resolve) => (this.#close = resolve));
  }

  /**
   * Submits an operation as a client does. If the submission throws, the operation fails. If it
   * returns a promise, the operation ends with it.
   */
  static submit(
    binding: Binding,
    operation: Operation,
    levels: readonly string[] = binding.consistencyLevels(),
    { signal = new AbortController().signal, ...named }: ContextOptions = {},
  ): ViewRecorder {
    const listener = new ViewRecorder(binding, operation, levels);
    const context: InvocationContext = {
      ...named,
      signal,
      deadlineAt: undefined,
      session: undefined,
      trace: undefined,
    };
    try {
      const value = binding.submitOperation(operation, levels, listener, context) as unknown;
      if (isThenable(value)) {
        value.then(
          () =>
            listener.#onEnd(
              new Error('the promise of submitOperation resolved before a final view'),
            ),
          (error: unknown) => listener.#onEnd(error),
        );
      }
    } catch (error) {
      listener.#onEnd(error);
    }
    return listener;
  }

  get final(): RecordedView | undefined {
    return this.views.find(({ isFinal }) => isFinal);
  }

  view(value: unknown, level: string, details?: ViewDetails): number {
    this.#values.push({ value, version: details?.version });
    this.#onCall(level, value, details?.version, details);
    return this.#values.length - 1;
  }

  confirm(level: string, seq: number, details?: ViewDetails): void {
    const reported = this.#values[seq];
    if (reported === undefined) this.#unreportedError ??= seq;
    this.#onCall(level, reported?.value, details?.version ?? reported?.version, details);
  }

  fail(error: unknown, level?: string): void {
    if (level !== undefined && this.#rank(level) < this.#strongest) return;
    const isGuess = level !== undefined && this.#rank(level) < this.#levels.length - 1;
    if (isGuess && !this.isClosed && this.operation.access === 'write') this.#failedBy = level;
    this.#onEnd(error);
  }

  /** Throws a `ConformanceError` unless all events so far follow the rules. */
  check(): void {
    const requested = `${formatOperation(this.operation)}, asked for ${this.requested.join(', ')}`;
    assertHolds(
      this.#unreportedError === undefined,
      () => `${requested}: confirms view ${this.#unreportedError}, which it has not delivered`,
    );
    this.#checkLevels(requested);
    this.#checkOrder(requested);
    this.#checkValues(requested);
    const guess = this.#failedBy;
    assertHolds(
      guess === undefined,
      () => `${requested}: fails by ${guess}, but no weaker level than its final fails a write`,
    );
    assertHolds(
      this.final !== undefined,
      () => `${requested}: no final view, but ${formatError(this.error)}`,
      this.error,
    );
  }

  #checkLevels(requested: string): void {
    for (const { level, isFinal } of this.views) {
      assertHolds(
        this.#rank(level) >= 0,
        () => `${requested}: a view at "${level}", which is none of ${this.#levels.join(', ')}`,
      );
      // A view with a stronger level may replace that of the strongest requested level. A final
      // view may have a weaker one.
      assertHolds(
        isFinal || this.requested.includes(level),
        () => `${requested}: a view at ${level}, which was not requested`,
      );
    }
    const [stronger, ...others] = this.views.filter(
      ({ level }) => this.#rank(level) > this.#strongest,
    );
    const isInPlace = stronger === undefined || stronger === this.final;
    assertHolds(
      isInPlace && others.length === 0,
      () => `${requested}: a view at ${stronger?.level}, which was not requested`,
    );
  }

  #checkOrder(requested: string): void {
    const end = this.views.findIndex(({ isFinal }) => isFinal);
    const late = end < 0 ? undefined : this.views[end + 1];
    assertHolds(
      late === undefined,
      () => `${requested}: a view at ${late?.level} after the final one, which no caller sees`,
    );
    this.views.reduce<RecordedView | undefined>((before, view) => {
      if (before === undefined) return view;
      const isStronger = view.isFinal || this.#rank(view.level) > this.#rank(before.level);
      assertHolds(
        isStronger,
        () => `${requested}: a view at ${view.level} after one at ${before.level}`,
      );
      return view;
    }, undefined);
    this.#checkVersions(requested);
  }

  /**
   * Delivered values belong to their receivers. If the binding still changes one, its receivers see
   * the change.
   */
  #checkValues(requested: string): void {
    const changed = this.views.find(({ value, text }) => formatValue(value) !== text);
    const values = (): string =>
      `delivered as ${changed?.text}, and changed into ${formatValue(changed?.value)} since`;
    assertHolds(
      changed === undefined,
      () => `${requested}: the value of the view at ${changed?.level} was ${values()}`,
    );
  }

  /** A client drops a preliminary view that is older than another one, but never a final view. */
  #checkVersions(requested: string): void {
    const { final } = this;
    const newer = this.views.find(({ version }) =>
      isVersionOlder(this.#binding, final?.version, version),
    );
    const versions = (): string =>
      `a final view of version ${formatValue(final?.version)} after one of ${formatValue(newer?.version)}`;
    assertHolds(newer === undefined, () => `${requested}: goes back in versions: ${versions()}`);
  }

  get #strongest(): number {
    return this.#rank(this.requested.at(-1)!);
  }

  #rank(level: string): number {
    return this.#levels.indexOf(level);
  }

  #onCall(level: string, value: unknown, version: unknown, details: ViewDetails | undefined): void {
    const isFinal = details?.final === true || this.#rank(level) >= this.#strongest;
    this.views.push({
      level,
      value,
      version,
      isFinal,
      text: formatValue(value),
    });
    if (isFinal) this.#onClosed();
  }

  #onEnd(error: unknown): void {
    if (this.isClosed) return;
    this.error = error;
    this.#onClosed();
  }

  #onClosed(): void {
    this.isClosed = true;
    this.#close();
  }
}

/**
 * Returns whether the binding considers `version` older. Versions that cannot be compared are not
 * older.
 */
export function isVersionOlder(binding: Binding, version: unknown, than: unknown): boolean {
  if (version === undefined || than === undefined) return false;
  return binding.isOlder === undefined ? isOlder(version, than) : binding.isOlder(version, than);
}
