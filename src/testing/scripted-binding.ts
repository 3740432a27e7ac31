/** A binding played by hand: tests decide what the store says, and when. */
import type { Binding, InvocationContext, Sink, ViewDetails } from '../correctable/binding.ts';
import { checkOptionTypes, checkOptionNames, type OptionNamesOf } from '../correctable/validate.ts';
import { createLevelOrder } from '../correctable/level-order.ts';
import type { Levels } from '../correctable/level-types.ts';
import type { Operation } from '../correctable/operation.ts';

/** One submitted operation, which the test answers. */
export interface ScriptedCall<Level extends string = string> {
  readonly operation: Operation;
  readonly levels: readonly Level[];
  readonly context: InvocationContext;
  /** Delivers a view and returns its number. */
  view(value: unknown, level: Level, details?: ViewDetails): number;
  confirm(level: Level, seq: number, details?: ViewDetails): void;
  fail(error: unknown, level?: Level): void;
}

/** A binding whose calls wait for the test to answer them. */
export interface ScriptedBinding<L extends Levels> extends Binding<L> {
  /** Every submission so far, in order. */
  readonly calls: readonly ScriptedCall<L[number]>[];
  /** Returns the next submission that `next` has not returned yet, and waits for it. */
  next(): Promise<ScriptedCall<L[number]>>;
  readonly isClosed: boolean;
}

/** Options of `scriptedBinding`. */
export interface ScriptedBindingOptions {
  /** Returns whether the binding supports an operation. Default: all */
  readonly supports?: (operation: Operation) => boolean;
  /** Answers a submission immediately. */
  readonly onCall?: (call: ScriptedCall) => void;
  /** Whether it supports sessions. Default: `false` */
  readonly hasSessions?: boolean;
  /** Compares versions. */
  readonly isOlder?: (version: unknown, than: unknown) => boolean;
}

const OPTIONS: OptionNamesOf<ScriptedBindingOptions> = {
  supports: true,
  onCall: true,
  hasSessions: true,
  isOlder: true,
};

/**
 * Creates a binding with these `levels` whose views and errors come from the test.
 *
 * @throws CorrectableError `INVALID_ARGUMENT` with the name of the invalid value.
 * @example
 * const binding = scriptedBinding(['weak', 'strong']);
 * const read = createClient(binding).invoke(get('k'));
 * const call = await binding.next();
 * call.view(1, 'weak');
 * call.confirm('strong', 0);
 * await read; // 1
 */
export function scriptedBinding<const L extends Levels>(
  levels: L,
  options: ScriptedBindingOptions = {},
): ScriptedBinding<L> {
  createLevelOrder(levels);
  checkOptionNames(options, { call: "scriptedBinding(['weak', 'strong'], { onCall })" }, OPTIONS);
  checkOptionTypes(options, 'function', 'supports', 'onCall', 'isOlder');
  checkOptionTypes(options, 'boolean', 'hasSessions');
  return new ScriptableBinding(levels, options);
}

class ScriptableBinding<L extends Levels> implements ScriptedBinding<L> {
  readonly name = 'scripted';
  readonly hasIdempotencyKeys = true;
  readonly calls: ScriptedCall<L[number]>[] = [];
  isClosed = false;
  readonly openSession?: () => object;
  readonly isOlder?: (version: unknown, than: unknown) => boolean;
  readonly #levels: L;
  readonly #options: ScriptedBindingOptions;
  readonly #waiting: ((call: ScriptedCall<L[number]>) => void)[] = [];
  #returnedCount = 0;

  constructor(levels: L, options: ScriptedBindingOptions) {
    this.#levels = levels;
    this.#options = options;
    if (options.hasSessions === true) this.openSession = () => ({});
    if (options.isOlder !== undefined) this.isOlder = options.isOlder;
  }

  consistencyLevels(): L {
    return this.#levels;
  }

  supports(operation: Operation): boolean {
    return this.#options.supports?.(operation) ?? true;
  }

  submitOperation<T>(
    operation: Operation<T>,
    levels: readonly L[number][],
    sink: Sink<T, L[number]>,
    context: InvocationContext,
  ): void {
    const call: ScriptedCall<L[number]> = {
      operation,
      levels,
      context,
      view: (value, level, details) => sink.view(value as T, level, details),
      confirm: (level, seq, details) => sink.confirm(level, seq, details),
      fail: (error, level) => sink.fail(error, level),
    };
    this.calls.push(call);
    this.#options.onCall?.(call);
    const waiting = this.#waiting.shift();
    if (waiting === undefined) return;
    this.#returnedCount++;
    waiting(call);
  }

  next(): Promise<ScriptedCall<L[number]>> {
    const call = this.calls[this.#returnedCount];
    if (call === undefined) return new Promise((resolve) => this.#waiting.push(resolve));
    this.#returnedCount++;
    return Promise.resolve(call);
  }

  async close(): Promise<void> {
    this.isClosed = true;
  }
}
