/** Submissions that came before the operations of the site's own log were applied again. */
import { Fifo } from '../../service/collections/fifo.ts';
import type { SitePart } from '../core/site-part.ts';
import type { Submission } from '../core/submissions.ts';

export class EarlySubmissions implements SitePart {
  readonly #isRecovered: () => boolean;
  readonly #start: (submission: Submission) => void;
  readonly #waiting = new Fifo<Submission>();

  constructor(isRecovered: () => boolean, start: (submission: Submission) => void) {
    this.#isRecovered = isRecovered;
    this.#start = start;
  }

  get isBusy(): boolean {
    return this.#waiting.size > 0;
  }

  /** Starts a submission, now or once all operations are applied. */
  submit(submission: Submission): void {
    if (this.#isRecovered()) this.#start(submission);
    else this.#waiting.push(submission);
  }

  settle(): void {
    while (this.#isRecovered()) {
      const submission = this.#waiting.shift();
      if (submission === undefined) return;
      this.#start(submission);
    }
  }
}
