/** A client that writes one operation after the other, while servers are killed. */
import { isCorrectableError } from 'correctables';
import { setTimeout as sleep } from 'node:timers/promises';
import { rounded } from '../harness/statistics.ts';

/** How long to wait after a write that failed. */
const RETRY_MS = 10;

export class Writer {
  readonly #write: () => PromiseLike<unknown>;
  readonly #acknowledgedAtMs: number[] = [];
  #unknown = 0;
  #isStopped = false;

  constructor(write: () => PromiseLike<unknown>) {
    this.#write = write;
  }

  get acknowledged(): number {
    return this.#acknowledgedAtMs.length;
  }

  /** Writes that failed, and may have been applied. */
  get unknown(): number {
    return this.#unknown;
  }

  /** Writes until `stop`. */
  async run(): Promise<void> {
    while (!this.#isStopped) {
      try {
        await this.#write();
        this.#acknowledgedAtMs.push(performance.now());
      } catch (error) {
        if (!isCorrectableError(error)) throw error;
        if (error.code === 'UNKNOWN' || error.code === 'TIMEOUT') this.#unknown += 1;
        await sleep(RETRY_MS);
      }
    }
  }

  stop(): void {
    this.#isStopped = true;
  }

  /** Returns how many writes were acknowledged between two moments. */
  countBetween(fromMs: number, untilMs: number): number {
    return this.#acknowledgedAtMs.filter((time) => time >= fromMs && time < untilMs).length;
  }

  /**
   * Returns the longest time without an acknowledged write between two moments. The last one may
   * still wait.
   */
  longestGapMs(fromMs: number, untilMs: number): number {
    const times = this.#acknowledgedAtMs.filter((time) => time >= fromMs && time < untilMs);
    const ends = [...times, untilMs];
    return Math.max(...ends.map((time, at) => time - (ends[at - 1] ?? fromMs)));
  }
}

/** Returns the longest time that a client waited for an acknowledged write. */
export function longestWaitSeconds(
  writers: readonly Writer[],
  fromMs: number,
  untilMs: number,
): number {
  return rounded(Math.max(...writers.map((writer) => writer.longestGapMs(fromMs, untilMs))) / 1000);
}

/** A period in steps of equal length. */
export interface Steps {
  readonly fromMs: number;
  readonly stepMs: number;
  readonly count: number;
}

/** Returns how many writes of all writers were acknowledged in each step of a period. */
export function countPerStep(
  writers: readonly Writer[],
  { fromMs, stepMs, count }: Steps,
): number[] {
  return Array.from({ length: count }, (_, step) => {
    const startMs = fromMs + step * stepMs;
    return writers.reduce((sum, writer) => sum + writer.countBetween(startMs, startMs + stepMs), 0);
  });
}
