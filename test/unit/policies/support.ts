/**
 * Helpers for the tests of policies: a store that answers as a test wants, on a clock that the test
 * moves.
 */
import { expect } from 'vitest';
import type { Binding, Client, ClientOptions, ErrorCode } from '../../../src/index.ts';
import { CorrectableError, createClient, isCorrectableError } from '../../../src/index.ts';
import { get } from '../../../src/operations/index.ts';
import { retryPolicy } from '../../../src/policies/index.ts';
import type { ScriptedBinding, VirtualClock } from '../../../src/testing/index.ts';
import { scriptedBinding } from '../../../src/testing/scripted-binding.ts';
import { virtualClock } from '../../../src/testing/virtual-clock.ts';
import type { Three } from '../correctable/support.ts';
import { LEVELS } from '../correctable/support.ts';

export const STEP_MS = 10;

/** Three attempts; 10 ms before the second, 20 ms before the third. */
export const retry = retryPolicy({ backoff: { delayMs: (attempt) => attempt * STEP_MS } });

export interface SetUp {
  readonly clock: VirtualClock;
  readonly binding: ScriptedBinding<Three>;
  readonly client: Client<Three>;
  readonly uncaught: readonly unknown[];
}

/** A client without time limit, unless given. */
export function setUp(options: ClientOptions): SetUp {
  const clock = virtualClock();
  const binding = scriptedBinding(LEVELS, { hasSessions: true });
  const uncaught: unknown[] = [];
  const onUncaught = (error: unknown): void => void uncaught.push(error);
  const client = createClient(binding, { clock, timeoutMs: Infinity, onUncaught, ...options });
  return { clock, binding, client, uncaught };
}

/** The failure of a store that could do it another time. */
export function failure(code: ErrorCode = 'UNAVAILABLE'): CorrectableError {
  return new CorrectableError(code, 'the store is busy');
}

export async function errorOf(c: PromiseLike<unknown>): Promise<CorrectableError> {
  return c.then(
    (value) => expect.fail(`no error but ${String(value)}`),
    (error: unknown) => (isCorrectableError(error) ? error : expect.fail(String(error))),
  );
}

/**
 * Runs `step`, which makes one update, for a job and then for another one, while the update waits
 * to be tried again.
 */
export async function refuteBetweenAttempts(
  { clock, binding, client }: SetUp,
  step: (job: unknown) => unknown,
  undo: (job: unknown) => void = () => {},
): Promise<void> {
  const result = client.invoke(get('next')).speculate(step, undo);
  const read = await binding.next();
  read.view('job-1', 'weak');
  (await binding.next()).fail(failure());
  read.view('job-2', 'strong');
  (await binding.next()).view(null, 'strong');
  await result;
  await clock.advance(1_000);
}

/** A store of which only the submission matters. */
export function scripted(submitOperation: () => void | Promise<void>): Binding<typeof LEVELS> {
  return {
    name: 'scripted',
    consistencyLevels: () => LEVELS,
    supports: () => true,
    submitOperation,
    close: () => Promise.resolve(),
  };
}
