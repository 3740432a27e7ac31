/** Creates Correctables without a store, as `new Promise(executor)` creates promises (COR-13). */
import type { Sink } from '../binding.ts';
import type { Correctable } from '../correctable.ts';
import type { EnvironmentOptions } from '../environment.ts';
import type { Environment } from '../environment.ts';
import { createEnvironment, defaultEnvironment, requirePlatform } from '../environment.ts';
import { check, checkFunction, checkOptions } from '../errors.ts';
import { isThenable } from '../validate.ts';
import { CorrectableHandle } from './correctable-handle.ts';
import type { LevelOrder } from '../level-order.ts';
import { createLevelOrder, areSameNames } from '../level-order.ts';
import type { Levels } from '../level-types.ts';
import { cancelSource, closeAfter, setTimeLimit, addCleanUp, Source } from '../source.ts';
import { followSignal, isAborted } from '../subscribe.ts';

/**
 * Delivers the views of one Correctable. If it returns a promise, the work ends with that promise.
 * Without a final view by then, the Correctable closes with `CLOSED_WITHOUT_FINAL`, or with the
 * rejection.
 */
export type Executor<T, L extends Levels> = (
  sink: Sink<T, L[number]>,
  signal: AbortSignal,
) => unknown;

/** Options of `correctable`. */
export interface CorrectableOptions<T> extends EnvironmentOptions {
  /**
   * Lets one level have several views: results that accumulate, a search that refines. Default:
   * `false`
   */
  readonly isRefining?: boolean | undefined;
  /** Returns whether two values mean the same. Default: structural equality */
  readonly equals?: ((a: T, b: T) => boolean) | undefined;
  /**
   * Returns whether a version is older than another. Default: by size of numbers, bigints and dates
   */
  readonly isOlder?: ((version: unknown, than: unknown) => boolean) | undefined;
  /** Closes with `TIMEOUT` after this many milliseconds. Default: no limit */
  readonly timeoutMs?: number | undefined;
  /** Cancels the Correctable when it aborts. */
  readonly signal?: AbortSignal | undefined;
}

const OPTIONS =
  'clock:object,onUncaught:function,onEvent:function,isRefining:boolean,equals:function,isOlder:function,timeoutMs:number,signal:object';

/**
 * Creates Correctables of the levels `L`. You name the type of the value; the compiler infers the
 * levels.
 */
export interface CorrectableFactory<L extends Levels> {
  /** Works like `correctable(levels, executor, options)`. */
  <T = unknown>(executor: Executor<T, L>, options?: CorrectableOptions<T>): Correctable<T, L>;
  /**
   * Creates a Correctable and its sink, as `Promise.withResolvers()` creates a promise and its
   * resolvers.
   */
  withSink<T = unknown>(this: void, options?: CorrectableOptions<T>): CorrectableWithSink<T, L>;
}

/** A Correctable, and the sink that delivers its views. */
export interface CorrectableWithSink<T, L extends Levels> {
  readonly correctable: Correctable<T, L>;
  readonly sink: Sink<T, L[number]>;
  /** Aborts when no consumer waits any more. Created on first use. */
  readonly signal: AbortSignal;
}

/**
 * Creates a Correctable whose views `executor` delivers. `executor` runs at once. If it throws, the
 * Correctable closes. Its second argument, a signal, aborts when no consumer waits any more. If the
 * `length` of `executor` is 1, as for `(sink, ...rest)` or a default value, no signal is created.
 * `withSink` always offers one.
 *
 * With `levels` alone, returns a factory: you name the type of the value, and the compiler infers
 * the levels.
 *
 * @throws CorrectableError `INVALID_ARGUMENT` if the levels are invalid, the executor is no
 * function, or an option is misspelled, of another type or out of range
 * @example
 * const price = correctable(['quoted', 'charged'])<number>((sink) => {
 *   sink.view(10, 'quoted');
 *   setTimeout(() => sink.view(12, 'charged'), 100);
 * });
 * price.onUpdate((value) => console.log('about', value));
 * console.log('exactly', await price);
 */
export function correctable<const L extends Levels>(levels: L): CorrectableFactory<L>;
export function correctable<T = unknown, const L extends Levels = Levels>(
  levels: L,
  executor: Executor<T, L>,
  options?: CorrectableOptions<T>,
): Correctable<T, L>;
export function correctable(
  levels: Levels,
  executor?: Executor<unknown, Levels>,
  options?: CorrectableOptions<unknown>,
): Correctable<unknown, Levels> | CorrectableFactory<Levels> {
  const levelOrder = getLevelOrder(levels);
  return executor === undefined && options === undefined
    ? createFactory(levelOrder)
    : createCorrectable(levelOrder, executor!, options);
}

function createFactory(levelOrder: LevelOrder): CorrectableFactory<Levels> {
  const maker: CorrectableFactory<Levels> = (executor, options) =>
    createCorrectable(levelOrder, executor, options);
  maker.withSink = (options) => {
    const source = createSource(levelOrder, options);
    return {
      correctable: new CorrectableHandle(source),
      sink: source,
      get signal() {
        return source.signal;
      },
    };
  };
  return maker;
}

function createCorrectable<T>(
  levelOrder: LevelOrder,
  executor: Executor<T, Levels>,
  options?: CorrectableOptions<T>,
): Correctable<T, Levels> {
  checkFunction(executor, 'executor');
  const source = createSource(levelOrder, options);
  if (source.state === 'pending') runExecutor(source, executor);
  return new CorrectableHandle(source);
}

function createSource<T>(levelOrder: LevelOrder, options?: CorrectableOptions<T>): Source<T> {
  if (options === undefined) return new Source<T>(levelOrder, defaultEnvironment, NO_OPTIONS);
  const source = new Source<T>(levelOrder, getEnvironment(checkOptions(options, OPTIONS)), options);
  addCancelTriggers(source, options.timeoutMs, options.signal);
  return source;
}

function runExecutor<T>(source: Source<T>, executor: Executor<T, Levels>): void {
  try {
    // A signal costs more than everything else here together. So only executors that can read it
    // get one.
    closeAfter(
      source,
      executor.length === 1
        ? (executor as (sink: Sink<T>) => unknown)(source)
        : executor(source, source.signal),
    );
  } catch (error) {
    source.fail(error);
  }
}

const NO_OPTIONS = {};

let lastLevelOrder: LevelOrder | undefined;

function getLevelOrder(levels: Levels): LevelOrder {
  if (!(Array.isArray(levels) && lastLevelOrder && areSameNames(lastLevelOrder.all, levels))) {
    requirePlatform();
    lastLevelOrder = createLevelOrder(levels);
  }
  return lastLevelOrder;
}

/**
 * Returns one shared environment for all calls that set no option of it, so that they share its
 * timers.
 */
export function getEnvironment(options: EnvironmentOptions): Environment {
  return (options.clock ?? options.onUncaught ?? options.onEvent)
    ? createEnvironment(options)
    : defaultEnvironment;
}

/** Sets the deadline of `source`, if any, and cancels it when `signal` aborts. */
export function addCancelTriggers<T>(
  source: Source<T>,
  timeoutMs: number = Infinity,
  signal: AbortSignal | undefined,
): void {
  if (checkTimeout(timeoutMs) < Infinity) setTimeLimit(source, timeoutMs);
  if (!signal) return;
  if (isAborted(signal)) cancelSource(source, signal.reason);
  else
    addCleanUp(
      source,
      followSignal(signal, (reason) => cancelSource(source, reason)),
    );
}

export function checkTimeout(timeoutMs: number, field = 'timeoutMs'): number {
  check(typeof timeoutMs === 'number' && timeoutMs > 0, field, 'give milliseconds above 0');
  return timeoutMs;
}

/** The levels of a Correctable that was made from one plain value or promise. */
export type SingleLevel = readonly ['final'];

const SINGLE_LEVEL: SingleLevel = ['final'];

/**
 * Creates a closed Correctable of one final view.
 *
 * @example
 * const known = correctableFromValue({ seats: 12 });
 */
export function correctableFromValue<T>(value: T): Correctable<T, SingleLevel> {
  return correctable(SINGLE_LEVEL, (sink) => void sink.view(value, 'final'));
}

/**
 * Creates a Correctable that closes as `promise` does. A rejection becomes the `cause` of the
 * error.
 *
 * @throws CorrectableError `INVALID_ARGUMENT` if `promise` is no promise
 * @example
 * const page = correctableFromPromise(fetch('/page').then((response) => response.text()));
 */
export function correctableFromPromise<T>(promise: PromiseLike<T>): Correctable<T, SingleLevel> {
  check(isThenable(promise), 'promise', 'give one');
  return correctable(SINGLE_LEVEL, (sink) => {
    promise.then(
      (value) => sink.view(value, 'final'),
      (error: unknown) => sink.fail(error, 'final'),
    );
  });
}
