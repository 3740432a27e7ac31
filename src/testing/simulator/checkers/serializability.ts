/**
 * Checks that red operations are as if executed one after the other in the red order. No other
 * operation has written a field that one has read, between its execution and its place. Operations
 * that it depends on are before it, with the same execution. The checker records the last writers
 * by site instead of stamps.
 */
import type { Origin } from '../../../server/service/records/origin.ts';
import { toFieldName } from '../../../server/service/generator/read-set.ts';
import type { Execution, RedOperation } from '../../../server/service/records/records.ts';
import {
  SiteChecker,
  getExecutionName,
  isRed,
  assertProperty,
  type AnyOperation,
} from './checker.ts';

type LastWriters = Map<string, string>;

interface ShownState {
  /** The last red writer of everything that was written. */
  readonly writers: LastWriters;
  readonly executions: Set<string>;
}

interface ProposedExecution {
  readonly operation: RedOperation;
  /** The number of the execution in order. */
  readonly number: number;
}

export class SerializabilityChecker extends SiteChecker<ShownState> {
  readonly name = 'serializability';
  /** The writers whose values were read, by execution. */
  readonly #read = new Map<string, LastWriters>();
  /** Proposed executions by the name that later executions of the same start of the site use. */
  readonly #proposed = new Map<string, ProposedExecution>();

  constructor() {
    super((shown) => ({
      writers: new Map(shown?.writers),
      executions: new Set(shown?.executions),
    }));
  }

  onCreated(site: Origin, operation: AnyOperation): void {
    if (!isRed(operation)) return;
    const { writers } = this.getState(site);
    const overlaid: LastWriters = new Map();
    for (const { operation: below } of this.#below(site, operation)) noteWrites(overlaid, below);
    const read: LastWriters = new Map();
    for (const name of operation.reads)
      read.set(name, overlaid.get(name) ?? writers.get(name) ?? 'no operation');
    this.#read.set(getExecutionName(operation), read);
    this.#proposed.set(formatExecution(operation, [operation.id, operation.attempt]), {
      operation,
      number: this.#proposed.size,
    });
  }

  onApplied(site: Origin, operation: AnyOperation): void {
    if (!isRed(operation)) return;
    const { writers, executions } = this.getState(site);
    for (const item of operation.dependencies ?? []) {
      assertProperty(
        executions.has(formatExecution(operation, item)),
        () =>
          `${operation.id} stands on ${item.join(', attempt ')}, which site ${site} does not show`,
      );
    }
    for (const [name, writer] of this.#read.get(getExecutionName(operation)) ?? []) {
      const found = writers.get(name) ?? 'no operation';
      assertProperty(
        found === writer,
        () =>
          `${operation.id} read ${JSON.stringify(name)} as ${writer} had left it, and stands behind ${found} at site ${site}`,
      );
    }
    noteWrites(writers, operation);
    executions.add(formatExecution(operation, [operation.id, operation.attempt]));
  }

  /**
   * Returns the executions that one depends on and that its site does not show yet, in order,
   * including indirect ones.
   */
  #below(site: Origin, operation: RedOperation): ProposedExecution[] {
    const { executions } = this.getState(site);
    const below = new Map<string, ProposedExecution>();
    const add = ({ dependencies = [] }: RedOperation): void => {
      for (const item of dependencies) {
        const name = formatExecution(operation, item);
        const proposed = this.#proposed.get(name);
        assertProperty(
          proposed !== undefined,
          () => `${operation.id} stands on ${name}, which no site proposed`,
        );
        if (below.has(name) || executions.has(name)) continue;
        below.set(name, proposed);
        add(proposed.operation);
      }
    };
    add(operation);
    return [...below.values()].toSorted((a, b) => a.number - b.number);
  }
}

function noteWrites(writers: LastWriters, { id, effects }: RedOperation): void {
  for (const { table, key, field } of effects) writers.set(toFieldName(table, key, field), id);
}

function formatExecution({ site, epoch }: RedOperation, [id, attempt]: Execution): string {
  return `${id}, attempt ${attempt} at site ${site}, start ${epoch}`;
}
