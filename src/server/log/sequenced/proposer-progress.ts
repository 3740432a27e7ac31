/**
 * How far the proposals of each site have got in a red log. Sites number them, from 1 on at each
 * start, so that what comes twice or late is noticed.
 */
import type { Origin } from '../../service/records/origin.ts';
import type { LogEntry, SavedLog } from '../red-log.ts';

interface Progress {
  epoch: number;
  next: number;
}

export class ProposerProgress {
  readonly #byOrigin = new Map<Origin, Progress>();

  constructor(saved: SavedLog['progress'] = []) {
    for (const [origin, epoch, next] of saved) this.#byOrigin.set(origin, { epoch, next });
  }

  save(): SavedLog['progress'] {
    return [...this.#byOrigin].map(([origin, { epoch, next }]) => [origin, epoch, next] as const);
  }

  /**
   * Returns the number that comes next of a start. It is `undefined` if a later start has proposed
   * since.
   */
  getNext(origin: Origin, epoch: number): number | undefined {
    const progress = this.#byOrigin.get(origin);
    if (progress === undefined || progress.epoch < epoch) return 1;
    return progress.epoch === epoch ? progress.next : undefined;
  }

  note<R>({ origin, epoch, sequence }: LogEntry<R>): void {
    const progress = this.#byOrigin.get(origin);
    const next = sequence + 1;
    if (progress === undefined) this.#byOrigin.set(origin, { epoch, next });
    else [progress.epoch, progress.next] = [epoch, next];
  }
}
