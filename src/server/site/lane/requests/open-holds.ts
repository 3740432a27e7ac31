/**
 * The holds of one red log that stand at the place of its gate, as strong reads and retries at this
 * site see them. The table of holds is ahead of the gate.
 */
import { NameCounts } from '../../../service/collections/counts.ts';
import type { ReadSet } from '../../../service/generator/read-set.ts';
import { getExecutedId } from '../global-records.ts';
import type {
  ExecutionName,
  GlobalOperation,
  OperationId,
} from '../../../service/records/records.ts';
import { findReadName } from '../order/footprint.ts';
import { HoldIndex } from '../order/hold-index.ts';
import type { HoldTable } from '../order/hold-table.ts';

export class OpenHolds {
  readonly #table: HoldTable;
  /** The global of each hold: `undefined` if only its end is known here. */
  readonly #operations = new Map<ExecutionName, GlobalOperation | undefined>();
  /** How many executions of an operation are held. */
  readonly #counts = new NameCounts();
  /** Holds of which only the end is known here: they may have any rows. */
  readonly #unknown = new Set<ExecutionName>();
  /** It is built for the first strong read. */
  #index: HoldIndex | undefined;

  /** @param table the holds of the log */
  constructor(table: HoldTable) {
    this.#table = table;
  }

  get executions(): Iterable<ExecutionName> {
    return this.#operations.keys();
  }

  has(execution: ExecutionName): boolean {
    return this.#operations.has(execution);
  }

  /** Whether a hold of any execution of the operation stands. */
  hasOperation(id: OperationId): boolean {
    return this.#counts.has(id);
  }

  /** @param operation the global that holds, if that is known */
  add(execution: ExecutionName, operation: GlobalOperation | undefined): void {
    this.delete(execution);
    this.#operations.set(execution, operation);
    this.#counts.increment(getExecutedId(execution));
    if (operation === undefined) this.#unknown.add(execution);
    else this.#index?.add(execution, this.#table.getFootprint(operation));
  }

  delete(execution: ExecutionName): void {
    if (!this.#operations.delete(execution)) return;
    this.#counts.decrement(getExecutedId(execution));
    this.#unknown.delete(execution);
    this.#index?.delete(execution);
  }

  /** Returns a hold that writes something of what was read. */
  findWriter({ names, ranges }: ReadSet): ExecutionName | undefined {
    for (const execution of this.#unknown) return execution;
    this.#index ??= this.#createIndex();
    const reads = { reads: names, ranges };
    for (const { execution, footprint } of this.#index.findWriters(reads))
      if (findReadName(reads, footprint) !== undefined) return execution;
    return undefined;
  }

  #createIndex(): HoldIndex {
    const index = new HoldIndex();
    for (const [execution, operation] of this.#operations)
      if (operation !== undefined) index.add(execution, this.#table.getFootprint(operation));
    return index;
  }
}
