/**
 * Operations and answers that wait until the stable snapshot of a site covers a vector, for example
 * of a session.
 */
import type { Settling, SitePart } from './site-part.ts';
import { NameCounts } from '../../service/collections/counts.ts';
import type { OperationId } from '../../service/records/records.ts';
import type { Submission } from './submissions.ts';
import { isCovered, type Finals, type Vector } from '../../service/records/vector.ts';

interface Waiting {
  readonly vector: Vector;
  readonly untilMs: number;
  readonly run: () => void;
  readonly late: () => void;
  /**
   * The submission that waits, if it can be dropped without a trace once no caller waits for it.
   */
  readonly submission?: Submission;
}

interface ClosedStreams {
  /** The stamps of the ends of closed streams, by ordinal. */
  readonly finals: Finals;
}

export class CoverageWaiters implements SitePart, Settling {
  /** Whether anything waits. */
  isDue = false;
  readonly #stable: () => Vector;
  readonly #origins: ClosedStreams;
  #waiting: Waiting[] = [];
  /** Whether the members have changed since the last look: a closed stream may have ended. */
  #hasNewMembers = false;
  readonly #operations = new NameCounts();

  constructor(stable: () => Vector, origins: ClosedStreams) {
    this.#stable = stable;
    this.#origins = origins;
  }

  get isBusy(): boolean {
    return this.isDue;
  }

  /** Whether the stable snapshot covers `vector`. */
  isCovered(vector: Vector | undefined): boolean {
    return vector === undefined || isCovered(vector, this.#stable(), -1, this.#origins.finals);
  }

  /**
   * Runs `run` once the stable snapshot covers `vector`, or at once if it does now. Runs `late` if
   * it does not by `untilMs`.
   */
  runWhenCovered(vector: Vector | undefined, waiting: Omit<Waiting, 'vector'>): void {
    if (vector === undefined || this.isCovered(vector)) return waiting.run();
    this.#waiting.push({ vector, ...waiting });
    this.isDue = true;
    this.#operations.increment(waiting.submission?.identity?.id);
  }

  hasWaiter(id: OperationId): boolean {
    return this.#operations.has(id);
  }

  /**
   * No caller waits any more for the submission with this serial. Forgets it, and returns it if it
   * was here.
   */
  cancel(serial: number): Submission | undefined {
    return this.#take(({ submission }) => submission?.serial === serial)[0]?.submission;
  }

  onMembersChanged(): void {
    this.#hasNewMembers = true;
  }

  /** Runs everything that is covered by now, if the snapshot has moved or a stream was closed. */
  settle(hasMoved: boolean): boolean {
    if (!hasMoved && !this.#hasNewMembers) return false;
    this.#hasNewMembers = false;
    const covered = this.#take(({ vector }) => this.isCovered(vector));
    for (const { run } of covered) run();
    return covered.length > 0;
  }

  tick(nowMs: number): void {
    for (const { late } of this.#take(({ untilMs }) => untilMs <= nowMs)) late();
  }

  #take(isTaken: (waiting: Waiting) => boolean): Waiting[] {
    if (this.#waiting.length === 0) return this.#waiting;
    const taken: Waiting[] = [];
    const left: Waiting[] = [];
    for (const item of this.#waiting) (isTaken(item) ? taken : left).push(item);
    this.#waiting = left;
    this.isDue = left.length > 0;
    for (const { submission } of taken) this.#operations.decrement(submission?.identity?.id);
    return taken;
  }
}
