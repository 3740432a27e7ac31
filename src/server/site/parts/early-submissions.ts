/** Submissions that came before the operations of the site's own log were applied again. */
import { Fifo } from '../../service/collections/fifo.ts';
import type { Settling, SitePart } from '../core/site-part.ts';
import type { Submission } from '../core/submissions.ts';

export class EarlySubmissions implements SitePart, Settling {
  /** Whether a submission waits. */
  isDue = false;
  readonly #isRecovered: () => boolean;
  readonly #start: (submission: Submission) => void;
  readonly #waiting = new Fifo<Submission>();

  constructor(isRecovered: () => boolean, start: (submission: Submission) => void) {
    this.#isRecovered = isRecovered;
    this.#start = start;
  }

  get isBusy(): boolean {
    return this.isDue;
  }

  /** Starts a submission once all operations are applied. */
  hold(submission: Submission): void {
    this.#waiting.push(submission);
    this.isDue = true;
  }

  settle(): boolean {
    let hasStarted = false;
    while (this.#isRecovered()) {
      const submission = this.#waiting.shift();
      if (submission === undefined) break;
      this.#start(submission);
      hasStarted = true;
    }
    this.isDue = !this.#waiting.isEmpty;
    return hasStarted;
  }
}
