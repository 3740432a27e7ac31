/**
 * Transactions over any store that can compare versions: optimistic, with deferred update and one
 * certified commit (SDUR, DSN 2013), and with a view before the commit. No store has to keep old
 * versions, and nothing is locked.
 */
import type { AnyClient, Session } from '../correctable/client/client.ts';
import { addCancelTriggers, getEnvironment } from '../correctable/client/create.ts';
import { CorrectableHandle } from '../correctable/client/correctable-handle.ts';
import { createSubmissionError } from '../correctable/client/submission-error.ts';
import type { Correctable } from '../correctable/correctable.ts';
import { requirePlatform, type EnvironmentOptions } from '../correctable/environment.ts';
import { check, checkOptions, CorrectableError } from '../correctable/errors.ts';
import { createLevelOrder } from '../correctable/level-order.ts';
import type { Levels, Strongest } from '../correctable/level-types.ts';
import { UNOBSERVED } from '../correctable/side-effects.ts';
import { closeAfter, Source } from '../correctable/source.ts';
import { markFutureWrite } from '../correctable/speculation/undone-run.ts';
import { hasMethods } from '../correctable/validate.ts';
import { runTransaction } from './run-transaction.ts';
import type { TransactionFunction } from './transaction-run.ts';

/** Options of `transaction`. */
export interface TransactionOptions<L extends Levels = Levels> extends EnvironmentOptions {
  /**
   * The session that the transaction reads and commits in. Default: none. With and without a
   * session, a run after a conflict never reads the stale versions for which the run before was
   * refused
   */
  readonly session?: Session | undefined;
  /**
   * Cancels the transaction when it aborts. If it aborts before the commit, nothing was written.
   */
  readonly signal?: AbortSignal | undefined;
  /** The time for all runs together, in milliseconds. Default: 30 000 */
  readonly timeoutMs?: number | undefined;
  /** How often the function may run, the first time included; from 1 to 100. Default: 10 */
  readonly maxAttempts?: number | undefined;
  /**
   * The strongest level of the store, at which transactions without writes are certified too.
   * Default: such a transaction has one view, at the level of its reads
   */
  readonly level?: Strongest<L> | undefined;
}

const DEFAULT_TIMEOUT_MS = 30_000;
const DEFAULT_MAX_ATTEMPTS = 10;
const MAX_ATTEMPTS = 100;

const CALL = 'transaction(client, async (tx) => { … })';
const OPTIONS =
  'session:object,signal:object,timeoutMs:number,maxAttempts:number,level:string,clock:object,onUncaught:function,onEvent:function';

/**
 * Runs `run` on the nearest copy of the data, shows its result at once, and sends one commit. If
 * what it has read was changed meanwhile, `run` runs again. So the final view is the result of a
 * run whose reads were still current at the commit.
 *
 * The levels are those of the client. A preliminary view is a result that the near copy of the
 * store would commit. A later view may correct it. A transaction without writes has one view.
 *
 * If `run` throws, the transaction ends without a commit, once a strong read has confirmed what it
 * has read. The error has the code `FINAL_FAILED` and the thrown value as its `cause`, or it is the
 * `CorrectableError` that was thrown.
 *
 * Closes with `CONFLICT` if what it reads was changed at each of `maxAttempts` runs: nothing was
 * written. Closes with `UNKNOWN` if the outcome of a commit is not known: it is never run again.
 *
 * Closes with `UNSUPPORTED` if the store has no `readVersions` and `commit`.
 *
 * @throws CorrectableError `INVALID_ARGUMENT` if an argument is missing or an option is misspelled,
 * of another type or out of range
 * @example
 * const transfer = transaction(bank, async (tx) => {
 *   const [from = 0, to = 0] = await tx.getMany<number>(['account:7', 'account:8']);
 *   if (from < 10) throw new Error('not enough');
 *   tx.put('account:7', from - 10);
 *   tx.put('account:8', to + 10);
 *   return from - 10;
 * });
 * transfer.onUpdate((left) => console.log('pending:', left));
 * console.log('committed:', await transfer);
 */
export function transaction<T, L extends Levels>(
  client: AnyClient & { readonly levels: L },
  run: TransactionFunction<T>,
  options: TransactionOptions<L> = {},
): Correctable<T, L> {
  requirePlatform();
  check(
    hasMethods(client, 'invoke', 'session'),
    'client',
    `give one, as createClient(memory()): ${CALL}`,
  );
  check(typeof run === 'function', 'run', `give a function, as ${CALL}`);
  const levelOrder = createLevelOrder(client.levels);
  const strongest = levelOrder.all.at(-1)!;
  const {
    timeoutMs = DEFAULT_TIMEOUT_MS,
    maxAttempts,
    level,
  } = checkTransactionOptions(options, strongest);

  const source = new Source<T>(levelOrder, getEnvironment(options), {
    // Each run may show its own result at the same level.
    isRefining: true,
    createSubmissionError,
  });
  source.label = { name: 'transaction' };
  addCancelTriggers(source, timeoutMs, options.signal);
  if (source.state === 'pending') {
    // The function may write later, even if the transaction is a part of an operation that has
    // ended by then.
    markFutureWrite(source, UNOBSERVED);
    const running = runTransaction(source, {
      client,
      run,
      session: options.session,
      maxAttempts: maxAttempts ?? DEFAULT_MAX_ATTEMPTS,
      isCertifiedAlways: level !== undefined,
      timeoutMs,
    });
    closeAfter(source, running);
  }
  return new CorrectableHandle<T, L, L[number]>(source);
}

function checkTransactionOptions<L extends Levels>(
  options: TransactionOptions<L>,
  strongest: string,
): TransactionOptions<L> {
  if ((options as { readonly idempotencyKey?: unknown } | null)?.idempotencyKey !== undefined) {
    throw new CorrectableError(
      'INVALID_ARGUMENT',
      'transaction(): idempotencyKey does not apply, because each run commits other arguments. ' +
        'Instead, read and write a row of your own with the identifier of the request.',
      { field: 'idempotencyKey' },
    );
  }
  const { maxAttempts = DEFAULT_MAX_ATTEMPTS, level } = checkOptions(options, OPTIONS);
  check(
    Number.isInteger(maxAttempts) && maxAttempts >= 1 && maxAttempts <= MAX_ATTEMPTS,
    'maxAttempts',
    `give an integer from 1 to ${MAX_ATTEMPTS}`,
  );
  check(
    level === undefined || level === strongest,
    'level',
    `give "${strongest}", the strongest level of the store, or leave it out`,
  );
  return options;
}
