/** A binding whose views and failures come from a test. */
import type { Binding, InvocationContext, Sink, ViewDetails } from '../correctable/binding.ts';
import {
  callback,
  optional,
  readOptions,
  trueOrFalse,
  type OptionsOf,
} from '../correctable/options.ts';
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
  readonly supports?: ((operation: Operation) => boolean) | undefined;
  /** Answers a submission immediately. */
  readonly onCall?: ((call: ScriptedCall) => void) | undefined;
  /** Whether it supports sessions. Default: `false` */
  readonly hasSessions?: boolean | undefined;
  /** Compares versions. */
  readonly isOlder?: ((version: unknown, than: unknown) => boolean) | undefined;
}

export const SCRIPTED_OPTIONS = {
  supports: optional<(operation: Operation) => boolean>(callback, () => true),
  onCall: optional(callback),
  hasSessions: optional(trueOrFalse, false),
  isOlder: optional(callback),
} satisfies OptionsOf<ScriptedBindingOptions>;

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
  const call = "scriptedBinding(['weak', 'strong'], { onCall })";
  const { supports, onCall, hasSessions, isOlder } = readOptions(
    options,
    { call },
    SCRIPTED_OPTIONS,
  );
  const calls: ScriptedCall<L[number]>[] = [];
  const waiting: ((call: ScriptedCall<L[number]>) => void)[] = [];
  let returnedCount = 0;
  let isClosed = false;
  return {
    name: 'scripted',
    hasIdempotencyKeys: true,
    calls,
    get isClosed() {
      return isClosed;
    },
    ...(hasSessions && { openSession: () => ({}) }),
    ...(isOlder !== undefined && { isOlder }),
    consistencyLevels: () => levels,
    supports,
    submitOperation(operation, requested, sink, context) {
      const call: ScriptedCall<L[number]> = {
        operation,
        levels: requested,
        context,
        view: (value, level, details) =>
          (sink as Sink<unknown, L[number]>).view(value, level, details),
        confirm: (level, seq, details) => sink.confirm(level, seq, details),
        fail: (error, level) => sink.fail(error, level),
      };
      calls.push(call);
      onCall?.(call);
      waiting.shift()?.(call);
    },
    async next() {
      return calls[returnedCount++] ?? new Promise((resolve) => waiting.push(resolve));
    },
    async close() {
      isClosed = true;
    },
  };
}
