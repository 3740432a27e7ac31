/**
 * Sessions read their own writes and never go back in time, wherever their client goes. It counts the operations that a
 * site shows, so that it does not rely on the vectors that sessions are kept by.
 */
import { RED, type Origin, type Origins } from '../../../server/records/origin.ts';
import { isRed, require, type AnyOperation, type Checker, type ClientSubmission } from './checker.ts';
import type { Vector } from '../../../server/records/vector.ts';

/** Operations seen, by ordinal: red ones, then blue ones. */
type Counts = readonly number[];

interface Expectation {
  readonly client: number;
  readonly counts: Counts;
}

export class SessionChecker implements Checker {
  readonly name = 'sessions';
  readonly #size: number;
  readonly #shown: number[][];
  /** What each client's session has seen. */
  readonly #seen = new Map<number, Counts>();
  readonly #asOf = new WeakMap<Vector, Counts>();
  /** By site and number of the submission: what its session had seen when it was made. */
  readonly #expected = new Map<string, Expectation>();

  constructor({ size }: Origins) {
    this.#size = size;
    this.#shown = Array.from({ length: size }, () => this.#nothing());
  }

  started(site: Origin, saved?: Counts): void {
    this.#shown[site] = [...(saved ?? this.#nothing())];
  }

  save(site: Origin): Counts {
    return [...(this.#shown[site] as Counts)];
  }

  applied(site: Origin, operation: AnyOperation): void {
    const shown = this.#shown[site] as number[];
    const entry = isRed(operation) ? RED : operation.site;
    shown[entry] = (shown[entry] ?? 0) + 1;
  }

  submitted({ site, serial, client, after }: ClientSubmission): void {
    if (after === undefined) return;
    // A request that comes again, late, asks for no more than it did at first.
    const counts = this.#asOf.get(after) ?? this.#seen.get(client) ?? this.#nothing();
    this.#asOf.set(after, counts);
    this.#expected.set(`${site}:${serial}`, { client, counts });
  }

  viewed(site: Origin, serial: number): void {
    const expected = this.#expected.get(`${site}:${serial}`);
    if (expected === undefined) return;
    const shown = this.#shown[site] as number[];
    for (const [entry, count] of expected.counts.entries()) {
      const origin = entry === RED ? 'red' : `site ${entry}`;
      require((shown[entry] ?? 0) >= count, () =>
        `client ${expected.client} had seen ${count} operations of ${origin} and site ${site} shows it ${shown[entry]}`);
    }
    const seen = this.#seen.get(expected.client) ?? this.#nothing();
    this.#seen.set(
      expected.client,
      seen.map((count, entry) => Math.max(count, shown[entry] ?? 0)),
    );
  }

  #nothing(): number[] {
    return Array.from({ length: this.#size }, () => 0);
  }
}
