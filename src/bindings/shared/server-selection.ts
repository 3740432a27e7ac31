/** Which server to ask: the nearest one that did not fail lately. */
import type { Clock } from '../../correctable/clock.ts';
import { SharedProbe } from './connections/shared-probe.ts';

const FIRST_PAUSE_MS = 500;
/** If a read has to find out whether a server is back, it waits for it. */
const MAX_PAUSE_MS = 30_000;
/** A probe costs no operation anything. */
const MAX_PROBE_PAUSE_MS = 4_000;

interface Failure {
  readonly error: unknown;
  readonly pauseMs: number;
  readonly triesAgainAtMs: number;
}

export interface ServerSelectionOptions {
  /** The servers, the nearest first. */
  readonly names: readonly string[];
  readonly clock: Clock;
  /**
   * Asks a server for anything, on a connection of its own. Rejects if the server cannot be used.
   * Default: operations find out
   */
  readonly probe?: ((name: string) => Promise<unknown>) | undefined;
}

export class ServerSelection {
  readonly #names: readonly string[];
  readonly #clock: Clock;
  readonly #probes: ReadonlyMap<string, SharedProbe<unknown>> | undefined;
  readonly #failures = new Map<string, Failure>();

  constructor({ names, clock, probe }: ServerSelectionOptions) {
    this.#names = names;
    this.#clock = clock;
    if (probe === undefined) return;
    this.#probes = new Map(
      names.map((name) => [name, new SharedProbe(async () => await probe(name), clock)]),
    );
  }

  /**
   * Returns the servers to try, in order. A server that has failed is one of them after its pause.
   * If there are probes, it is one after a probe succeeds.
   */
  getCandidates(): readonly string[] {
    const nowMs = this.#clock.now();
    return this.#names.filter((name) => {
      const failure = this.#failures.get(name);
      if (failure === undefined) return true;
      if (failure.triesAgainAtMs > nowMs) return false;
      if (this.#probes !== undefined) void this.check(name);
      return this.#probes === undefined;
    });
  }

  /** Whether servers can be asked apart from operations. */
  get hasProbes(): boolean {
    return this.#probes !== undefined;
  }

  /**
   * Asks a server apart from operations, and notes the result. Returns the reason if the server
   * cannot be used.
   */
  async check(name: string): Promise<{ readonly reason: unknown } | undefined> {
    try {
      await this.#probes?.get(name)?.run();
      this.noteSuccess(name);
      return undefined;
    } catch (reason) {
      this.noteFailure(name, reason);
      return { reason };
    }
  }

  /** The error of a server that is not tried for now, if there is any. */
  get latestError(): unknown {
    return [...this.#failures.values()].at(-1)?.error;
  }

  noteSuccess(name: string): void {
    this.#failures.delete(name);
  }

  /**
   * A server that fails is not asked for a time that doubles each time. Call it for a failure of
   * the server only: one of a value or of a statement says nothing about other operations.
   */
  noteFailure(name: string, error: unknown): void {
    const nowMs = this.#clock.now();
    const before = this.#failures.get(name);
    // Reads that were in flight together fail together.
    if (before !== undefined && before.triesAgainAtMs > nowMs) return;
    const maxMs = this.#probes === undefined ? MAX_PAUSE_MS : MAX_PROBE_PAUSE_MS;
    const pauseMs = before === undefined ? FIRST_PAUSE_MS : Math.min(maxMs, 2 * before.pauseMs);
    this.#failures.delete(name); // to the end
    this.#failures.set(name, {
      error,
      pauseMs,
      triesAgainAtMs: nowMs + pauseMs,
    });
  }
}
