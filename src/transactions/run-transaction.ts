/**
 * Runs one transaction: executes its function, commits, and repeats both if what was read has
 * changed.
 */
import { exponentialBackoff } from '../correctable/backoff.ts';
import type { SubmissionStatus } from '../correctable/binding.ts';
import type { AnyClient, Session } from '../correctable/client/client.ts';
import type { Correctable } from '../correctable/correctable.ts';
import { isCorrectableError, type CorrectableError } from '../correctable/errors.ts';
import type { Levels } from '../correctable/level-types.ts';
import { NO_EFFECT, WRITE } from '../correctable/side-effects.ts';
import { addCleanUp, cancelSource, getSource, type Source } from '../correctable/source.ts';
import { createOperationError } from '../correctable/operation-error.ts';
import { isUndone } from '../correctable/speculation/undone-run.ts';
import type { CommitResult } from '../operations/versioned.ts';
import { RefusedVersions } from './refused-versions.ts';
import {
  formatKeys,
  TransactionRun,
  type TransactionContext,
  type TransactionFunction,
} from './transaction-run.ts';

export interface TransactionPlan<T> {
  readonly client: AnyClient;
  readonly run: TransactionFunction<T>;
  readonly session: Session | undefined;
  readonly maxAttempts: number;
  /** Whether a transaction without writes is certified too. */
  readonly isCertifiedAlways: boolean;
  /** The time for all runs together; may be `Infinity`. */
  readonly timeoutMs: number;
}

/** The result of one run of the function. */
type Outcome<T> = { readonly value: T } | { readonly error: unknown };

const INVALID_RESULT =
  'commit: the store must return { committed, changed }. The transaction may have been committed.';

const PRINCIPAL_CHANGED =
  'transaction: another user is signed in than when it began. Nothing was written. ' +
  'Begin it again if it is still needed.';

/**
 * The number of different timeouts that the operations of transactions with one `timeoutMs` may
 * have. Operations with equal timeouts share a timer.
 */
const DIFFERENT_TIME_LIMITS = 64;

/**
 * Spreads clients that use the same keys. The first pause is about one round trip in a data center.
 */
const BACKOFF = exponentialBackoff({ initialDelayMs: 10, maxDelayMs: 1_000 });

/** Delivers the views of the transaction to `source`, and closes it. */
export async function runTransaction<T>(
  source: Source<T>,
  plan: TransactionPlan<T>,
): Promise<void> {
  const context = createContext(source, plan);
  for (let attempt = 1; ; attempt++) {
    const run = new TransactionRun(attempt, context);
    const outcome = await execute(plan.run, run);
    if (source.state !== 'pending') return;
    // The transaction belongs to a speculative run that was undone. A commit would take effect
    // after the undo.
    if (isUndone(source)) return cancelSource(source);
    if (run.readError !== undefined) return source.fail(run.readError);

    const changed = run.changed ?? (await finish(source, plan, { run, outcome }));
    if (changed === undefined || source.state !== 'pending') return;
    if (attempt === plan.maxAttempts) return source.fail(createConflict(source, changed, attempt));

    run.rememberRefused(changed);
    await pause(source, BACKOFF.delayMs(attempt, Math.random)!);
    if (source.state !== 'pending') return;
  }
}

function createContext<T>(
  source: Source<T>,
  { client, session, timeoutMs }: TransactionPlan<T>,
): TransactionContext {
  let latest: Source<unknown> | undefined;
  let submitted: Correctable<unknown, Levels, string> | undefined;
  let principal: string | undefined;
  source.submissionStatus = {
    get mayHaveBeenSent() {
      return latest?.submissionStatus?.mayHaveBeenSent !== false;
    },
    get blockedBy() {
      return latest?.submissionStatus?.blockedBy;
    },
  } satisfies SubmissionStatus;
  // The operations get no signal, because its listeners would cost more than the rest of a
  // transaction.
  addCleanUp(source, () => {
    if (submitted?.state === 'pending') submitted.cancel(source.extras?.error);
  });

  return {
    client,
    session,
    refusedVersions: new RefusedVersions(),
    getSignal: () => source.signal,
    getTimeoutMs: () => getRemainingMs(source, timeoutMs),
    checkNotFailed() {
      if (source.state === 'error') throw source.extras?.error as unknown;
    },
    checkPrincipal() {
      if (latest !== undefined && getPrincipal(latest) !== principal)
        throw createOperationError(source, 'UNAVAILABLE', PRINCIPAL_CHANGED, {
          retryable: false,
        });
    },
    onSubmit(inner) {
      const isFirst = submitted === undefined;
      submitted = inner;
      latest = getSource(inner);
      if (isFirst) principal = latest && tryGetPrincipal(latest);
    },
  };
}

function getPrincipal<T>({ environment }: Source<T>): string | undefined {
  return environment.binding?.principal?.();
}

/**
 * Returns the principal, or `undefined` if the client does not know it. In that case the operation
 * has failed with the same error.
 */
function tryGetPrincipal<T>(source: Source<T>): string | undefined {
  try {
    return getPrincipal(source);
  } catch {
    return undefined;
  }
}

/**
 * Returns the time that is left, rounded up, because operations with the same timeout share a
 * timer. The transaction itself still closes on time.
 */
function getRemainingMs<T>({ dueAt, environment }: Source<T>, timeoutMs: number): number {
  if (dueAt === undefined) return Infinity;
  const stepMs = timeoutMs / DIFFERENT_TIME_LIMITS;
  const steps = Math.ceil((dueAt - environment.clock.now()) / stepMs);
  return Math.max(1, steps) * stepMs;
}

async function execute<T>(
  run: TransactionFunction<T>,
  transaction: TransactionRun,
): Promise<Outcome<T>> {
  try {
    return { value: await run(transaction) };
  } catch (error) {
    return { error };
  } finally {
    transaction.close();
  }
}

interface FinishedRun<T> {
  readonly run: TransactionRun;
  readonly outcome: Outcome<T>;
}

/** Returns the keys that have changed, if the run has failed because of them. */
async function finish<T>(
  source: Source<T>,
  plan: TransactionPlan<T>,
  { run, outcome }: FinishedRun<T>,
): Promise<readonly string[] | undefined> {
  try {
    if ('error' in outcome) return await reportError(source, run, outcome.error);
    if (run.hasWrites || (plan.isCertifiedAlways && run.hasReads))
      return await commitRun(source, run, outcome.value);

    const level = plan.isCertifiedAlways ? plan.client.levels.at(-1)! : run.level;
    source.view(outcome.value, level, { final: true });
  } catch (error) {
    source.fail(error);
  }
  return undefined;
}

/** Reports the error of a run. If its input was wrong, the error is dropped. */
async function reportError<T>(
  source: Source<T>,
  run: TransactionRun,
  error: unknown,
): Promise<readonly string[] | undefined> {
  const changed = run.hasReads ? await run.findChanged() : [];
  if (changed.length > 0) return changed;
  source.fail(isCorrectableError(error) ? error : createFunctionError(source, error));
  return undefined;
}

async function commitRun<T>(
  source: Source<T>,
  run: TransactionRun,
  value: T,
): Promise<readonly string[] | undefined> {
  run.checkPrincipal();
  if (run.hasWrites) source.effectState = WRITE;
  const committing = run.submitCommit();
  committing.onUpdate((result: CommitResult | undefined, { level }) => {
    if (result?.committed === true) source.view(value, level);
  });

  const result = await waitForCommit(committing);
  if (!isCommitResult(result)) throw createOperationError(source, 'PROTOCOL', INVALID_RESULT, {});

  // From here on the outcome of the commit is certain.
  if (!result.committed) {
    source.effectState = NO_EFFECT;
    return result.changed;
  }
  source.view(value, committing.latest!.level, { final: true });
  return undefined;
}

/** Check the result: a store that accepts any operation, as `tiered` does, may return anything. */
function isCommitResult(result: CommitResult | null | undefined): result is CommitResult {
  return typeof result?.committed === 'boolean' && Array.isArray(result.changed);
}

/** A store that refuses a commit with `CONFLICT` has written nothing. */
async function waitForCommit(committing: PromiseLike<CommitResult>): Promise<CommitResult> {
  try {
    return await committing;
  } catch (error) {
    if (!isCorrectableError(error, 'CONFLICT')) throw error;
    return {
      committed: false,
      changed: error.key === undefined ? [] : [error.key],
    };
  }
}

function pause<T>(source: Source<T>, delayMs: number): Promise<void> {
  return new Promise((resolve) => {
    const timer = source.environment.clock.setTimer(resolve, delayMs);
    addCleanUp(source, () => {
      timer.cancel();
      resolve();
    });
  });
}

function createConflict<T>(
  source: Source<T>,
  changed: readonly string[],
  attempts: number,
): CorrectableError {
  const keys = changed.length > 0 ? formatKeys(changed) : 'what it reads';
  const message =
    `transaction: ${keys} changed at each of ${attempts} runs. Nothing was written. ` +
    'Try again later. Keep what many clients change at once in counters, stocks or queues ' +
    'of a RedBlue service.';
  return createOperationError(source, 'CONFLICT', message, { key: changed[0] });
}

function createFunctionError<T>(source: Source<T>, cause: unknown): CorrectableError {
  const message = 'transaction: its function failed. Nothing was written. See cause.';
  return createOperationError(source, 'FINAL_FAILED', message, { cause });
}
