/**
 * Helpers for the tests of Correctables: sinks in the test's hands, and records of what consumers
 * saw.
 */
import type {
  Correctable,
  CorrectableOptions,
  ErrorCode,
  Levels,
  Sink,
} from '../../../src/index.ts';
import { correctable, isCorrectableError } from '../../../src/index.ts';
import { collectGarbage } from '../../support/garbage.ts';

export type Three = readonly ['weak', 'causal', 'strong'];
export const LEVELS: Three = ['weak', 'causal', 'strong'];

export interface Manual<T> {
  readonly c: Correctable<T, Three>;
  readonly sink: Sink<T, Three[number]>;
}

/** A Correctable of three levels, and the sink that feeds it. */
export function manual<T = unknown>(options?: CorrectableOptions<T>): Manual<T> {
  const { correctable: c, sink } = correctable(LEVELS).withSink<T>(options);
  return { c, sink };
}

/** Records the callbacks of a Correctable, as short lines. */
export function record<T>(c: Correctable<T, Levels, string>): string[] {
  const lines: string[] = [];
  c.setCallbacks({
    onUpdate: (value, view) => lines.push(`write ${String(value)} ${view.level}`),
    onFinal: (value, view) => lines.push(`final ${String(value)} ${view.level}`),
    onError: (error) => lines.push(`error ${error.code}`),
  });
  return lines;
}

/** Waits for everything that is due without time passing. */
export function settled(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

/** How much the process holds once all has been collected that can be. */
export function heldBytes(): number {
  collectGarbage();
  return process.memoryUsage().heapUsed;
}

/**
 * The code of the error with which `promise` rejects; the value's description where it does not.
 */
export async function codeOf(promise: PromiseLike<unknown>): Promise<ErrorCode | string> {
  return promise.then(
    (value) => `no error but ${String(value)}`,
    (error: unknown) => (isCorrectableError(error) ? error.code : String(error)),
  );
}

/** The unhandled rejections during `body`, and until everything has settled after it. */
export async function unhandledDuring(body: () => void | Promise<void>): Promise<unknown[]> {
  const reasons: unknown[] = [];
  const others = process.listeners('unhandledRejection');
  process.removeAllListeners('unhandledRejection');
  process.on('unhandledRejection', (reason) => reasons.push(reason));
  try {
    await body();
    await new Promise((resolve) => setTimeout(resolve, 5));
    await settled();
    return reasons;
  } finally {
    process.removeAllListeners('unhandledRejection');
    for (const listener of others) process.on('unhandledRejection', listener);
  }
}
