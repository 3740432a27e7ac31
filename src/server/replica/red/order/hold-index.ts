/**
 * Finds the holds that an operation may overlap, by the names and tables that
 * both touch. Without it, each record would be compared with each hold that
 * stands.
 */
import type { ExecutionName } from '../../../records/records.ts';
import type { Footprint } from './footprint.ts';

export class HoldIndex {
  readonly #readers = new NameIndex();
  readonly #writers = new NameIndex();
  /** By the table of a range that a hold reads. */
  readonly #rangeReaders = new NameIndex();
  /** By the table of an effect. */
  readonly #tableWriters = new NameIndex();

  add(execution: ExecutionName, footprint: Footprint): void {
    for (const [index, names] of this.#list(footprint))
      index.add(names, execution);
  }

  delete(execution: ExecutionName, footprint: Footprint): void {
    for (const [index, names] of this.#list(footprint))
      index.delete(names, execution);
  }

  /** Returns every hold that overlaps `later`, and maybe others. */
  findCandidates(later: Footprint): ReadonlySet<ExecutionName> {
    const found = new Set<ExecutionName>();
    this.#writers.find(later.reads, found);
    this.#writers.find(later.writes, found);
    this.#readers.find(later.writes, found);
    this.#tableWriters.find(listTables(later.ranges), found);
    this.#rangeReaders.find(listTables(later.effects), found);
    return found;
  }

  #list({
    reads,
    writes,
    ranges,
    effects,
  }: Footprint): readonly (readonly [NameIndex, Iterable<string>])[] {
    return [
      [this.#readers, reads],
      [this.#writers, writes],
      [this.#rangeReaders, listTables(ranges)],
      [this.#tableWriters, listTables(effects)],
    ];
  }
}

class NameIndex {
  readonly #executions = new Map<string, Set<ExecutionName>>();

  add(names: Iterable<string>, execution: ExecutionName): void {
    for (const name of names) {
      const present = this.#executions.get(name);
      if (present === undefined)
        this.#executions.set(name, new Set([execution]));
      else present.add(execution);
    }
  }

  delete(names: Iterable<string>, execution: ExecutionName): void {
    for (const name of names) {
      const present = this.#executions.get(name);
      present?.delete(execution);
      if (present?.size === 0) this.#executions.delete(name);
    }
  }

  find(names: Iterable<string>, found: Set<ExecutionName>): void {
    for (const name of names)
      for (const execution of this.#executions.get(name) ?? [])
        found.add(execution);
  }
}

function listTables(
  items: readonly { readonly table: string }[],
): readonly string[] {
  return items.map(({ table }) => table);
}
