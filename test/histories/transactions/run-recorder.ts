/** Records what the runs of one transaction read and wrote. */
import type { PlannedStep, TransactionPlan } from './list-append-plans.ts';
import type { Element, ListOperation, RecordedTransaction } from './recorded-transaction.ts';

/**
 * What a transaction reads and writes with: a part of `Transaction` of `correctables/transactions`.
 */
export interface ListTransaction {
  readonly get: (key: string) => PromiseLike<unknown>;
  readonly getMany: (keys: readonly string[]) => PromiseLike<readonly unknown[]>;
  readonly put: (key: string, value: unknown) => void;
}

/** What the function of a `refused` transaction throws. */
export class Refusal extends Error {
  override readonly name = 'Refusal';
}

export class RunRecorder {
  readonly #plan: TransactionPlan;
  readonly #runs: ListOperation[][] = [];

  constructor(plan: TransactionPlan) {
    this.#plan = plan;
  }

  /** The function of the transaction: it may run several times. */
  readonly run = async (tx: ListTransaction): Promise<void> => {
    const operations: ListOperation[] = [];
    this.#runs.push(operations);
    for (const step of this.#plan.steps) await execute(step, tx, operations);
    if (this.#plan.kind === 'refused') throw new Refusal('This transaction ends with an error.');
  };

  /** What the latest run did, in full. */
  get operations(): readonly ListOperation[] {
    return this.#runs.at(-1) ?? [];
  }

  /** What the latest run read of the store, without its own appends. */
  get reads(): readonly ListOperation[] {
    return listStoreReads(this.operations);
  }

  /**
   * Returns the runs that came to nothing as snapshots. Each has seen a single state too, or its
   * function would have acted on a mix.
   *
   * @param isLatestIncluded whether the latest run came to nothing as well
   */
  listAbandoned(
    transaction: RecordedTransaction,
    isLatestIncluded: boolean,
  ): RecordedTransaction[] {
    const abandoned = isLatestIncluded ? this.#runs : this.#runs.slice(0, -1);
    return abandoned.map((operations, index) => ({
      ...transaction,
      id: `${transaction.id}, run ${index + 1}`,
      outcome: 'committed',
      isSnapshot: true,
      operations: listStoreReads(operations),
    }));
  }
}

/** An append reads the list, and writes it again. */
async function execute(
  step: PlannedStep,
  tx: ListTransaction,
  operations: ListOperation[],
): Promise<void> {
  if ('append' in step) {
    const [key, element] = step.append;
    const list = toList(await tx.get(key));
    operations.push({ read: [key, list] });
    tx.put(key, [...list, element]);
    operations.push({ append: step.append });
    return;
  }

  const { read: keys } = step;
  const [first] = keys;
  const values = keys.length === 1 ? [await tx.get(first!)] : await tx.getMany(keys);
  keys.forEach((key, at) => operations.push({ read: [key, toList(values[at])] }));
}

function toList(value: unknown): readonly Element[] {
  return (value as readonly Element[] | undefined) ?? [];
}

function listStoreReads(operations: readonly ListOperation[]): ListOperation[] {
  const own = new Set<string>();
  return operations.filter((operation) => {
    if ('read' in operation) return !own.has(operation.read[0]);
    own.add(operation.append[0]);
    return false;
  });
}
