/** Which server to ask: the nearest one that did not fail lately. */
import type { Clock } from '../../correctable/clock.ts';

const FIRST_PAUSE_MS = 500;
const MAX_PAUSE_MS = 30_000;

interface Failure {
  readonly error: unknown;
  readonly pauseMs: number;
  readonly triesAgainAtMs: number;
}

export class ServerSelection {
  readonly #names: readonly string[];
  readonly #clock: Clock;
  readonly #failures = new Map<string, Failure>();

  constructor(names: readonly string[], clock: Clock) {
    this.#names = names;
    this.#clock = clock;
  }

  /** Returns the servers to try, in order. */
  getCandidates(): readonly string[] {
    const nowMs = this.#clock.now();
    return this.#names.filter(
      (name) => (this.#failures.get(name)?.triesAgainAtMs ?? 0) <= nowMs,
    );
  }

  /** The error of a server that is not tried for now, if there is any. */
  get latestError(): unknown {
    return [...this.#failures.values()].at(-1)?.error;
  }

  noteSuccess(name: string): void {
    this.#failures.delete(name);
  }

  /** A server that fails is not asked for a time that doubles each time. */
  noteFailure(name: string, error: unknown): void {
    const nowMs = this.#clock.now();
    const before = this.#failures.get(name);
    // Reads that were in flight together fail together.
    if (before !== undefined && before.triesAgainAtMs > nowMs) return;
    const pauseMs =
      before === undefined
        ? FIRST_PAUSE_MS
        : Math.min(MAX_PAUSE_MS, 2 * before.pauseMs);
    this.#failures.delete(name); // to the end
    this.#failures.set(name, {
      error,
      pauseMs,
      triesAgainAtMs: nowMs + pauseMs,
    });
  }
}
