/**
 * Checks that sessions read their own writes and never go back in time, at any site. The checker
 * counts operations instead of comparing vectors.
 */
import { type Origin, type Origins } from '../../../server/service/records/origin.ts';
import {
  CountingChecker,
  assertProperty,
  formatList,
  setCount,
  type ClientSubmission,
  type SubmissionEvent,
} from './checker.ts';
import type { Vector } from '../../../server/service/records/vector.ts';

/** The number of operations seen, by ordinal: red ones, then blue ones. */
type Counts = readonly number[];

interface SessionExpectation {
  readonly client: number;
  readonly counts: Counts;
}

export class SessionChecker extends CountingChecker {
  readonly name = 'sessions';
  /** The operations that each client's session has seen. */
  readonly #seen = new Map<number, Counts>();
  readonly #asOf = new WeakMap<Vector, Counts>();
  /**
   * The operations that a session had seen when a submission was made, by site and number of the
   * submission.
   */
  readonly #expected = new Map<string, SessionExpectation>();

  /** The table of origins that the present start of a site uses, by site. */
  readonly #origins = new Map<Origin, Origins>();
  /**
   * Operations that had to wait for others. Those beyond the end of closed streams do not count.
   */
  readonly #waiting = new Set<string>();

  onSubmitted({ site, serial, client, id, sessionVector }: ClientSubmission): void {
    if (sessionVector === undefined) return;
    // A late repetition of a request requires no more than the first one.
    const counts = this.#asOf.get(sessionVector) ?? this.#seen.get(client) ?? [];
    this.#asOf.set(sessionVector, counts);
    this.#expected.set(`${site}:${serial}`, { client, counts });
    const shown = this.getState(site);
    const mustWait = counts.some(
      (count, entry) =>
        (shown[entry] ?? 0) < Math.min(count, this.#getFinalAt(site, entry) ?? count),
    );
    if (mustWait) this.#waiting.add(id);
  }

  onMembers(site: Origin, origins: Origins): void {
    this.#origins.set(site, origins);
  }

  /**
   * No site has operations beyond the end of a closed stream, so a session does not wait for them.
   * With several logs, it may wait for records of globals, which take stamps and are no operations.
   */
  onSubmissionEvent({ site, operation: { id }, code }: SubmissionEvent): void {
    assertProperty(
      code !== 'REPLICA_BEHIND' || this.#waiting.has(id) || this.founding.logs.length > 1,
      () =>
        `${id} waited at site ${site}, and all that its session had seen is there, or beyond the end of a stream`,
    );
  }

  /**
   * Returns the number of operations that count of a closed stream, even if a session has seen
   * more. Any site may know it: one whose red log has halted at its start does not.
   */
  #getFinal(entry: number): number | undefined {
    for (const site of this.#origins.keys()) {
      const final = this.#getFinalAt(site, entry);
      if (final !== undefined) return final;
    }
    return undefined;
  }

  /**
   * Returns the same as far as a site knows it. A site that has not delivered the end of a stream
   * waits for what was there beyond it.
   */
  #getFinalAt(site: Origin, entry: number): number | undefined {
    const origins = this.#origins.get(site);
    return origins?.isSite(entry) === true ? origins.get(entry).final?.sequence : undefined;
  }

  onSessionView(site: Origin, serial: number): void {
    const expected = this.#expected.get(`${site}:${serial}`);
    if (expected === undefined) return;
    const shown = this.getState(site);
    for (const [entry, count] of expected.counts.entries()) {
      const origin = formatList(entry, this.founding);
      assertProperty(
        (shown[entry] ?? 0) >= Math.min(count, this.#getFinal(entry) ?? count),
        () =>
          `client ${expected.client} had seen ${count} operations of ${origin} and site ${site} shows it ${shown[entry]}`,
      );
    }
    const seen = [...(this.#seen.get(expected.client) ?? [])];
    for (const [entry, count] of shown.entries())
      setCount(seen, entry, Math.max(count, seen[entry] ?? 0));
    this.#seen.set(expected.client, seen);
  }
}
