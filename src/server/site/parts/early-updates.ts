/**
 * Holds back the updates of a start until another site has confirmed it, and its proposals to the
 * red log (docs/spec/cluster.md, CLU-I8). In a log that etcd keeps, the first record of a start
 * ends the start before it. Without this a node on a copy of the directory would end the node that
 * goes on.
 */
import type { CorrectableError } from '../../../correctable/errors.ts';
import type { RedLog } from '../../log/red-log.ts';
import { mayHaveStartedError, unconfirmedError } from '../../service/records/failures.ts';
import { getPartition, type RedRecord } from '../../service/records/records.ts';
import type { Submission } from '../core/submissions.ts';
import type { WholeSite } from '../whole-site.ts';
import type { Operations } from './operations.ts';

export class EarlyUpdates {
  // These are fields, since each submission reads them.
  /** Whether no update may be answered yet. */
  isUnconfirmed: boolean;
  /** Until when updates are held. It is `undefined` if none is held. */
  untilMs: number | undefined;
  readonly #site: WholeSite;
  readonly #operations: Operations;
  #updates: Submission[] = [];
  #records: RedRecord[] = [];

  /**
   * @param untilMs until when updates are held, and refused after that. It is `undefined` if the
   * start needs no other site
   */
  constructor(untilMs: number | undefined, site: WholeSite, operations: Operations) {
    this.#site = site;
    this.#operations = operations;
    this.isUnconfirmed = untilMs !== undefined;
    this.untilMs = untilMs;
    site.blue.isHeld = this.isUnconfirmed;
  }

  /** Why updates are refused, if they are. */
  get rejection(): CorrectableError | undefined {
    const areRefused = this.isUnconfirmed && this.untilMs === undefined;
    return areRefused ? unconfirmedError() : undefined;
  }

  /** Holds an update, or refuses it. */
  hold(update: Submission): void {
    if (this.untilMs === undefined) this.#refuse(update);
    else this.#updates.push(update);
  }

  /** Takes the update with this serial, if it was held. */
  remove(serial: number): Submission | undefined {
    const place = this.#updates.findIndex((update) => update.serial === serial);
    return place < 0 ? undefined : this.#updates.splice(place, 1)[0];
  }

  /**
   * Proposes a record once the start is confirmed. A change of the members is proposed at once,
   * because it may bring the site that confirms the start.
   */
  propose(record: RedRecord, nowMs: number): void {
    if (this.isUnconfirmed && record.kind !== 'member') this.#records.push(record);
    else this.#logOf(record).propose(record, nowMs);
  }

  /** Takes a record back, if it has not left this site. */
  withdraw(record: RedRecord): void {
    const { red } = this.#site;
    if (this.#remove(record)) red.onWithdrawn(record);
    else red.onNotWithdrawn(record);
  }

  #logOf(record: RedRecord): RedLog<RedRecord> {
    return this.#site.red.lanes.at(getPartition(record)).node;
  }

  #remove(record: RedRecord): boolean {
    const index = this.#records.indexOf(record);
    if (index < 0) return this.#logOf(record).withdraw(record);
    this.#records.splice(index, 1);
    return true;
  }

  /** Refuses what was held, and all that comes until the start is confirmed. */
  refuse(): void {
    this.untilMs = undefined;
    for (const update of this.#updates.splice(0)) this.#refuse(update);
  }

  /** Refuses updates if they have waited for long enough. Returns whether that begins now. */
  refuseAfter(nowMs: number): boolean {
    if (this.untilMs === undefined || nowMs < this.untilMs) return false;
    this.refuse();
    return true;
  }

  /** The start is confirmed: updates and records that were held go on. */
  release(nowMs: number): void {
    this.isUnconfirmed = false;
    this.untilMs = undefined;
    this.#site.blue.isHeld = false;
    for (const record of this.#records.splice(0)) this.#logOf(record).propose(record, nowMs);
    for (const update of this.#updates.splice(0)) this.#operations.submit(update);
  }

  /** An older directory does not know what its client may have sent before under this name. */
  #refuse(update: Submission): void {
    const error = update.identity === undefined ? unconfirmedError() : mayHaveStartedError();
    this.#site.writes.refuse(update, error);
  }
}
