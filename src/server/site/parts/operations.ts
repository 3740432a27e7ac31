/**
 * Begins the operations that callers submit: refuses one, reads, or lets `Writes` execute it.
 * Submissions that came before the operations of the site's own log were applied again wait here.
 */
import { Fifo } from '../../service/collections/fifo.ts';
import { joiningError } from '../../service/records/failures.ts';
import { formatOperationId } from '../core/operation-id.ts';
import type { Settling, SitePart } from '../core/site-part.ts';
import type { Submission } from '../core/submissions.ts';
import type { WholeSite } from '../whole-site.ts';

export class Operations implements SitePart, Settling {
  /** Whether a submission waits. */
  isDue = false;
  readonly #site: WholeSite;
  readonly #startName: string;
  readonly #waiting = new Fifo<Submission>();

  constructor(site: WholeSite, startName: string) {
    this.#site = site;
    this.#startName = startName;
  }

  get isBusy(): boolean {
    return this.isDue;
  }

  /** Begins an operation, now or once all operations of the own log are applied. */
  submit(submission: Submission): void {
    if (this.#site.blue.isRecovered) return this.#begin(submission);
    this.#waiting.push(submission);
    this.isDue = true;
  }

  settle(): boolean {
    let hasBegun = false;
    while (this.#site.blue.isRecovered) {
      const submission = this.#waiting.shift();
      if (submission === undefined) break;
      this.#begin(submission);
      hasBegun = true;
    }
    this.isDue = !this.#waiting.isEmpty;
    return hasBegun;
  }

  #begin(submission: Submission): void {
    const { activation, membership, writes } = this.#site;
    if (!activation.isAll) {
      const rejection = activation.getRejection(submission.plan.name);
      if (rejection !== undefined) return writes.refuse(submission, rejection);
    }
    if (submission.plan.isRead) this.#read(submission);
    else if (!membership.takesWrites) writes.refuse(submission, joiningError());
    else writes.submit(submission);
  }

  #read(submission: Submission): void {
    const { coverage, red, writes } = this.#site;
    const { wantedStages, serial, sessionVector } = submission;
    const isCovered = coverage.isCovered(sessionVector);
    if (wantedStages.causal && isCovered) this.#readHere(submission);
    // If the site lacks what the session has seen and a strong view follows, the weak view is
    // skipped, not delayed.
    if (wantedStages.strong) {
      const admission = red.admissionOf(submission);
      if (admission.isFull) this.#site.reply(submission, 'strong', admission.fullError());
      else red.read(formatOperationId(this.#startName, serial), submission);
      return;
    }
    if (!isCovered) writes.runWhenSeen(submission, () => this.#readHere(submission));
  }

  #readHere(submission: Submission): void {
    this.#site.reply(submission, 'causal', this.#site.state.read(submission));
  }
}
