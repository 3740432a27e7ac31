/** The updates of a start that no other site has accepted so far (docs/spec/cluster.md, I8). */
import type { Submission } from '../records/submissions.ts';

export class EarlyUpdates {
  #untilMs: number | undefined;
  #updates: Submission[] = [];

  /** @param untilMs when the wait ends at the latest; `undefined` if nothing has to wait */
  constructor(untilMs: number | undefined) {
    this.#untilMs = untilMs;
  }

  get isWaiting(): boolean {
    return this.#untilMs !== undefined;
  }

  get untilMs(): number | undefined {
    return this.#untilMs;
  }

  hold(update: Submission): void {
    this.#updates.push(update);
  }

  /** Returns the update of this serial if it was held. It is not any more. */
  remove(serial: number): Submission | undefined {
    const place = this.#updates.findIndex((update) => update.serial === serial);
    return place < 0 ? undefined : this.#updates.splice(place, 1)[0];
  }

  /** Ends the wait, and returns what was held. */
  end(): Submission[] {
    this.#untilMs = undefined;
    return this.#updates.splice(0);
  }
}
