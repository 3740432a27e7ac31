/** Runs random transactions on lists against a store, and records what each client saw of them. */
import { isCorrectableError } from '../../../src/index.ts';
import { Random } from '../../../src/server/service/collections/random.ts';
import { getReportedOutcome } from '../reported-outcomes.ts';
import {
  ListAppendPlans,
  type TransactionKind,
  type TransactionPlan,
} from './list-append-plans.ts';
import type { RecordedTransaction } from './recorded-transaction.ts';
import { Refusal, RunRecorder, type ListTransaction } from './run-recorder.ts';

/**
 * Runs one transaction. Rejects with a `CorrectableError`, or with what `run` threw.
 *
 * @param worker from 0: the number of the client
 * @param kind `snapshot` and `read` only read: give `read` the level at which it is certified
 */
export type Transact = (
  worker: number,
  run: (tx: ListTransaction) => Promise<void>,
  kind: TransactionKind,
) => PromiseLike<unknown>;

export interface ListAppendOptions {
  readonly transact: Transact;
  /** How many lists are in use at a time. The fewer, the more conflicts. */
  readonly keys: number;
  readonly seed: number;
}

export interface LoadOptions {
  /** How many clients there are, each of which runs one transaction at a time. */
  readonly workers: number;
  /** How many transactions all workers run together. Default: as many as they can until `signal` */
  readonly transactions?: number;
  /** Ends the load early. */
  readonly signal?: AbortSignal;
}

/** How many lists one transaction reads in the end. */
const KEYS_PER_FINAL_READ = 50;

export class ListAppendWorkload {
  /** All transactions that have ended. */
  readonly history: RecordedTransaction[] = [];
  readonly #transact: Transact;
  readonly #plans: ListAppendPlans;
  #begun = 0;

  constructor({ transact, keys, seed }: ListAppendOptions) {
    this.#transact = transact;
    this.#plans = new ListAppendPlans(new Random(seed), keys);
  }

  /** Resolves when each worker has ended its last transaction. */
  async run({ workers, transactions = Infinity, signal }: LoadOptions): Promise<void> {
    const last = this.#begun + transactions;
    const canBegin = (): boolean => this.#begun < last && signal?.aborted !== true;
    const work = async (worker: number): Promise<void> => {
      while (canBegin()) await this.#record(worker, this.#plans.draw());
    };
    await Promise.all(Array.from({ length: workers }, (_, worker) => work(worker)));
  }

  /**
   * Reads every list that was ever in use, so that a lost append is found. End all faults before.
   *
   * @throws Error if such a read fails
   */
  async readAll(): Promise<void> {
    const { keys } = this.#plans;
    for (let at = 0; at < keys.length; at += KEYS_PER_FINAL_READ) {
      const read = keys.slice(at, at + KEYS_PER_FINAL_READ);
      const { id, outcome } = await this.#record(0, { kind: 'read', steps: [{ read }] });
      if (outcome !== 'committed') throw new Error(`${id}, a final read, was ${outcome}`);
    }
  }

  async #record(worker: number, plan: TransactionPlan): Promise<RecordedTransaction> {
    this.#begun += 1;
    const id = `t${this.#begun}`;
    const recorder = new RunRecorder(plan);
    const startAt = performance.now();
    const result = await judgeOutcome(this.#transact(worker, recorder.run, plan.kind));
    const transaction: RecordedTransaction = {
      id,
      process: `worker ${worker}`,
      startAt,
      endAt: performance.now(),
      outcome: result === 'refused' ? 'committed' : result,
      operations: result === 'refused' ? recorder.reads : recorder.operations,
      ...(plan.kind === 'snapshot' && { isSnapshot: true }),
    };
    this.history.push(transaction, ...recorder.listAbandoned(transaction, result === 'aborted'));
    return transaction;
  }
}

/**
 * Runs the workload with no faults, and reads all lists in the end.
 *
 * @example
 * const history = await runListAppend({
 *   transact: (worker, run, kind) =>
 *     transaction(clients[worker]!, run, kind === 'snapshot' ? {} : { level: 'strong' }),
 *   workers: 8, transactions: 1_000, keys: 5, seed: 1,
 * });
 * expect(checkTransactions(history).map(formatAnomaly)).toEqual([]);
 */
export async function runListAppend(
  options: ListAppendOptions & LoadOptions,
): Promise<RecordedTransaction[]> {
  const workload = new ListAppendWorkload(options);
  await workload.run(options);
  await workload.readAll();
  return workload.history;
}

/** `refused`: its function threw, and what it had read was validated. */
async function judgeOutcome(
  running: PromiseLike<unknown>,
): Promise<RecordedTransaction['outcome'] | 'refused'> {
  try {
    await running;
    return 'committed';
  } catch (error) {
    if (error instanceof Refusal || (error as Error).cause instanceof Refusal) return 'refused';
    if (!isCorrectableError(error)) throw error;
    const reported = getReportedOutcome({ outcome: error.code, isRetryable: error.retryable });
    return reported === 'not made' ? 'aborted' : 'unknown';
  }
}
