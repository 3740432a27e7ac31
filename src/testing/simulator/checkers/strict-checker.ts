/**
 * Red operations and strong reads over several red logs are strictly serializable, and every site
 * shows the red writers of a field in one order.
 */
import { toFieldName } from '../../../server/service/generator/read-set.ts';
import type { Origin } from '../../../server/service/records/origin.ts';
import {
  SiteChecker,
  assertProperty,
  isRed,
  type AnyOperation,
  type ClientView,
  type FinalState,
  type GeneratorRun,
} from './checker.ts';
import { findStrictCycle, type StrictOperation } from './strict.ts';

type SeenWriters = ReadonlyMap<string, string | undefined>;

/** By field: how many of its writers a site shows. */
type WriterCounts = Map<string, number>;

export class StrictChecker extends SiteChecker<WriterCounts> {
  readonly name = 'strict';
  /** By field, in the order in which the first site has shown them. */
  readonly #writers = new Map<string, string[]>();
  /** What red operations had before them, at the first site that shows them. */
  readonly #operations = new Map<string, SeenWriters>();
  /** The last strong execution of a read, by site and submission. */
  readonly #runs = new Map<string, SeenWriters>();
  /** What was shown to clients in strong reads, by operation. */
  readonly #reads = new Map<string, SeenWriters[]>();

  constructor() {
    super((saved) => new Map(saved));
  }

  onApplied(site: Origin, operation: AnyOperation): void {
    if (!isRed(operation)) return;
    const { id, reads, effects } = operation;
    // Another checker shows that it was executed on what is before it.
    if (!this.#operations.has(id)) this.#operations.set(id, this.#getWriters(site, reads));
    const written = effects.map(({ table, key, field }) => toFieldName(table, key, field));
    for (const name of new Set(written)) this.#noteWriter(site, name, id);
  }

  onGeneratorRun(site: Origin, { input, strongReads }: GeneratorRun): void {
    if (strongReads === undefined) return;
    this.#runs.set(`${site}:${input.serial}`, this.#getWriters(site, strongReads));
  }

  onView({ site, serial, operation, isRead, stage }: ClientView): void {
    const seen = this.#runs.get(`${site}:${serial}`);
    if (!isRead || stage !== 'strong' || seen === undefined) return;
    const reads = this.#reads.get(operation.id);
    if (reads === undefined) this.#reads.set(operation.id, [seen]);
    else reads.push(seen);
  }

  onFinished({ history }: FinalState): void {
    const operations: StrictOperation[] = [];
    for (const { id, submittedAtMs: begunAt, replies } of history.operations) {
      const strong = replies.filter(({ stage }) => stage === 'strong');
      const executed = this.#operations.get(id);
      const endedAt = strong[0]?.atMs;
      if (executed !== undefined) operations.push({ name: id, begunAt, endedAt, seen: executed });
      for (const [index, seen] of (this.#reads.get(id) ?? []).entries()) {
        const name = `${id}, answer ${index + 1}`;
        const { atMs } = strong[index] ?? {};
        operations.push({ name, begunAt, endedAt: atMs, seen });
      }
    }
    const cycle = findStrictCycle(operations, this.#writers);
    assertProperty(
      cycle === undefined,
      () => `each of these is before the next, and the last before the first: ${cycle?.join('; ')}`,
    );
  }

  #getWriters(site: Origin, names: Iterable<string>): SeenWriters {
    const counts = this.getState(site);
    const getLast = (name: string): string | undefined =>
      this.#writers.get(name)?.[(counts.get(name) ?? 0) - 1];
    return new Map([...names].map((name) => [name, getLast(name)]));
  }

  #noteWriter(site: Origin, name: string, id: string): void {
    const counts = this.getState(site);
    const count = counts.get(name) ?? 0;
    counts.set(name, count + 1);
    const writers = this.#writers.get(name) ?? [];
    this.#writers.set(name, writers);
    writers[count] ??= id;
    assertProperty(
      writers[count] === id,
      () =>
        `site ${site} shows ${id} as writer ${count + 1} of ${JSON.stringify(name)}, another one ${writers[count]}`,
    );
  }
}
