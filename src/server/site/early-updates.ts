/**
 * The updates of a start that no other site has confirmed so far, and what it has to say to the red
 * log (docs/spec/cluster.md, I8). In a log that etcd keeps, the first record of a start ends the
 * start before it: a node on a copy would end the one that goes on.
 */
import type { RedRecord } from '../records/records.ts';
import type { Submission } from '../records/submissions.ts';

export class EarlyUpdates {
  #isUnconfirmed: boolean;
  #untilMs: number | undefined;
  #updates: Submission[] = [];
  #records: RedRecord[] = [];

  /**
   * @param untilMs until when updates are held, and refused after that; `undefined` if the start
   *   needs nothing
   */
  constructor(untilMs: number | undefined) {
    this.#isUnconfirmed = untilMs !== undefined;
    this.#untilMs = untilMs;
  }

  /** Whether no update may be answered yet. */
  get isUnconfirmed(): boolean {
    return this.#isUnconfirmed;
  }

  /** Until when updates are held; `undefined` if none is held. */
  get untilMs(): number | undefined {
    return this.#untilMs;
  }

  get areRefused(): boolean {
    return this.#isUnconfirmed && this.#untilMs === undefined;
  }

  hold(update: Submission): void {
    this.#updates.push(update);
  }

  /** Returns the update of this serial if it was held. It is not any more. */
  remove(serial: number): Submission | undefined {
    const place = this.#updates.findIndex((update) => update.serial === serial);
    return place < 0 ? undefined : this.#updates.splice(place, 1)[0];
  }

  holdRecord(record: RedRecord): void {
    this.#records.push(record);
  }

  /** Whether a record was held. It is not any more. */
  removeRecord(record: RedRecord): boolean {
    const place = this.#records.indexOf(record);
    return place >= 0 && this.#records.splice(place, 1).length > 0;
  }

  takeRecords(): RedRecord[] {
    return this.#records.splice(0);
  }

  /** Returns what was held, which is refused, as all is that comes after it. */
  refuse(): Submission[] {
    this.#untilMs = undefined;
    return this.#updates.splice(0);
  }

  /** The start is confirmed, or over. Returns what was held. */
  end(): Submission[] {
    this.#isUnconfirmed = false;
    return this.refuse();
  }
}
