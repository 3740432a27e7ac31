/**
 * Red operations are as if executed one after the other in the red order: the fields that one had read, no other has written between
 * its execution and its place. It keeps its own account of who wrote what last, by site, instead of stamps.
 */
import { fieldName } from '../../../server/redblue/read-set.ts';
import { executionOf, isRed, require } from './checker.ts';
import type { AnyOperation, Checker } from './checker.ts';

type LastWriters = Map<string, string>;

export class SerializabilityChecker implements Checker {
  readonly name = 'serializability';
  /** By site: the last red writer of everything that is written, as shown there. */
  readonly #writers: LastWriters[];
  /** By execution: whose writes were read. */
  readonly #read = new Map<string, LastWriters>();

  constructor(siteCount: number) {
    this.#writers = Array.from({ length: siteCount }, () => new Map());
  }

  started(site: number, saved?: LastWriters): void {
    this.#writers[site] = new Map(saved);
  }

  save(site: number): LastWriters {
    return new Map(this.#writers[site]);
  }

  created(site: number, operation: AnyOperation): void {
    if (!isRed(operation)) return;
    const writers = this.#writers[site] as LastWriters;
    const read: LastWriters = new Map();
    for (const name of operation.reads) read.set(name, writers.get(name) ?? 'nobody');
    this.#read.set(executionOf(operation), read);
  }

  applied(site: number, operation: AnyOperation): void {
    if (!isRed(operation)) return;
    const writers = this.#writers[site] as LastWriters;
    for (const [name, writer] of this.#read.get(executionOf(operation)) ?? []) {
      const found = writers.get(name) ?? 'nobody';
      require(found === writer, () =>
        `${operation.id} read ${JSON.stringify(name)} as ${writer} had left it, and stands behind ${found} at site ${site}`);
    }
    for (const { table, key, field } of operation.effects) writers.set(fieldName(table, key, field), operation.id);
  }
}
