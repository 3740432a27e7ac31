/**
 * Red operations are as if executed one after the other in the red order: the fields that one had read, no other has
 * written between its execution and its place; and what it stood on stands before it, executed as often. It keeps its
 * own account of who wrote what last, by site, instead of stamps.
 */
import type { Origin, Origins } from '../../../server/records/origin.ts';
import { fieldName } from '../../../server/generator/read-set.ts';
import type { Execution, RedOperation } from '../../../server/records/records.ts';
import { SiteChecker, executionOf, isRed, require, type AnyOperation } from './checker.ts';

type LastWriters = Map<string, string>;

/** What is known of a site. */
interface Shown {
  /** The last red writer of everything that is written. */
  readonly writers: LastWriters;
  /** The executions that it has shown. */
  readonly executions: Set<string>;
}

/** An execution that a site has proposed. */
interface Proposed {
  readonly operation: RedOperation;
  /** In which order. */
  readonly number: number;
}

export class SerializabilityChecker extends SiteChecker<Shown> {
  readonly name = 'serializability';
  /** By execution: whose writes were read. */
  readonly #read = new Map<string, LastWriters>();
  /** By what later executions of the same start of the site call it. */
  readonly #proposed = new Map<string, Proposed>();

  constructor(origins: Origins) {
    super(origins, copyOf);
  }

  created(site: Origin, operation: AnyOperation): void {
    if (!isRed(operation)) return;
    const { writers } = this.at(site);
    const laid: LastWriters = new Map();
    for (const { operation: below } of this.#below(site, operation)) noteWrites(laid, below);
    const read: LastWriters = new Map();
    for (const name of operation.reads) read.set(name, laid.get(name) ?? writers.get(name) ?? 'nobody');
    this.#read.set(executionOf(operation), read);
    this.#proposed.set(nameIn(operation, [operation.id, operation.attempt]), {
      operation,
      number: this.#proposed.size,
    });
  }

  applied(site: Origin, operation: AnyOperation): void {
    if (!isRed(operation)) return;
    const { writers, executions } = this.at(site);
    for (const each of operation.after ?? []) {
      require(executions.has(nameIn(operation, each)), () =>
        `${operation.id} stands on ${each.join(', attempt ')}, which site ${site} does not show`);
    }
    for (const [name, writer] of this.#read.get(executionOf(operation)) ?? []) {
      const found = writers.get(name) ?? 'nobody';
      require(found === writer, () =>
        `${operation.id} read ${JSON.stringify(name)} as ${writer} had left it, and stands behind ${found} at site ${site}`);
    }
    noteWrites(writers, operation);
    executions.add(nameIn(operation, [operation.id, operation.attempt]));
  }

  /** What an execution stands on, and what that does, as far as its site does not show it: in order. */
  #below(site: Origin, operation: RedOperation): Proposed[] {
    const { executions } = this.at(site);
    const below = new Map<string, Proposed>();
    const add = ({ after = [] }: RedOperation): void => {
      for (const each of after) {
        const name = nameIn(operation, each);
        const proposed = this.#proposed.get(name);
        require(proposed !== undefined, () => `${operation.id} stands on ${name}, which nobody proposed`);
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
  for (const { table, key, field } of effects) writers.set(fieldName(table, key, field), id);
}

function nameIn({ site, epoch }: RedOperation, [id, attempt]: Execution): string {
  return `${id}, attempt ${attempt} at site ${site}, start ${epoch}`;
}

function copyOf(shown?: Shown): Shown {
  return { writers: new Map(shown?.writers), executions: new Set(shown?.executions) };
}
