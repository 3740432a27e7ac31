/** Lines on which nothing is submitted any more, kept for the answers that are still to come. */
import type { Line } from './line.ts';
import type { Scheduling } from '../settings/scheduling.ts';

/** So many are kept; of more, the oldest goes, and what it did not answer is submitted again. */
const LINES_MAX = 8;

/** Each goes when it has answered everything, when it is lost, or when its time is over. */
export class RetiringLines {
  readonly #scheduling: Scheduling;
  readonly #onEnded: (line: Line) => void;
  readonly #timers = new Map<Line, () => void>();

  /** `onEnded` is told of each line that has gone. */
  constructor(scheduling: Scheduling, onEnded: (line: Line) => void) {
    this.#scheduling = scheduling;
    this.#onEnded = onEnded;
  }

  get size(): number {
    return this.#timers.size;
  }

  has(line: Line): boolean {
    return this.#timers.has(line);
  }

  /** Keeps a line for at most `limitMs`. */
  add(line: Line, limitMs: number): void {
    line.retired = true;
    this.#timers.set(
      line,
      this.#scheduling.setTimer(() => this.end(line), limitMs),
    );
    const [oldest] = this.#timers.keys();
    if (this.#timers.size > LINES_MAX && oldest !== undefined) this.end(oldest);
    this.endIfAnswered(line);
  }

  endIfAnswered(line: Line): void {
    if (line.awaited === 0) this.end(line);
  }

  end(line: Line): void {
    const cancelTimer = this.#timers.get(line);
    if (cancelTimer === undefined) return;
    cancelTimer();
    this.#timers.delete(line);
    line.flush();
    line.drop();
    this.#onEnded(line);
  }

  endAll(): void {
    for (const line of this.#timers.keys()) this.end(line);
  }
}
