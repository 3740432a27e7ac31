/**
 * Ends requests of this site before the red order has decided about them: their callers have left,
 * or a red log that they need orders nothing for now. What may have left the site is not taken
 * back, and its outcome is unknown.
 */
import { isGlobal } from '../global-records.ts';
import {
  callerLeftError,
  droppedError,
  redAwayError,
  redAwayUnknownError,
} from '../../../service/records/failures.ts';
import type { SiteCore } from '../../core/site-core.ts';
import type { Submission } from '../../core/submissions.ts';
import { findBlocked } from './blocked-requests.ts';
import type { Executions } from './executions.ts';
import type { GlobalRequests } from './global-requests.ts';
import type { Proposals } from './proposals.ts';
import type { Lanes } from '../lane.ts';
import type { RedRequest, RedRequests } from './red-requests.ts';

interface RedParts {
  readonly requests: RedRequests;
  readonly proposals: Proposals;
  readonly executions: Executions;
  readonly globals: GlobalRequests | undefined;
  readonly lanes: Lanes;
}

export class RequestWithdrawals {
  readonly #core: SiteCore;
  readonly #parts: RedParts;

  constructor(core: SiteCore, parts: RedParts) {
    this.#core = core;
    this.#parts = parts;
  }

  /**
   * Nothing can be ordered for now in the red log of a partition.
   *
   * @param endsProposed whether callers of proposed operations get an answer
   */
  endBlocked(endsProposed: boolean, partition: number): void {
    const { requests, globals } = this.#parts;
    const all = [...requests.ids].flatMap((id) => requests.get(id) ?? []);
    const blocked = globals === undefined ? new Set(all) : findBlocked(all, partition, globals);
    // The last first: an operation must not go on because one before it ended.
    for (const request of all.toReversed())
      if (request.waiters.length > 0 && blocked.has(request))
        this.#endBlockedRequest(request, endsProposed, partition);
  }

  #endBlockedRequest(request: RedRequest, endsProposed: boolean, partition: number): void {
    const isDropped = this.#dropIfUnproposed(request, partition);
    if (!isDropped && endsProposed) this.withdraw(request, partition);
  }

  /**
   * Drops a request, or requests its last record back if it was proposed.
   *
   * @param awaited the partition whose red log it has waited for
   */
  withdraw(request: RedRequest, awaited = request.partition): void {
    if (this.#dropIfUnproposed(request, awaited)) return;
    const { record } = request;
    if (record === undefined) return;
    // Other sites may finish a global by its holds.
    const isFinishedByOthers = record.kind === 'operation' && isGlobal(record);
    if (isFinishedByOthers) this.replyAllLeft(request, awaited);
    else this.#core.outputs.withdraw(record);
  }

  /** Returns whether nothing of the request was proposed, so that it is dropped. */
  #dropIfUnproposed(request: RedRequest, awaited: number): boolean {
    const { isProposed, record } = request;
    const isUnproposed =
      !isProposed ||
      (record?.kind === 'operation' &&
        isGlobal(record) &&
        this.#parts.globals?.withdraw(record) === true);
    if (isUnproposed) this.drop(request, awaited);
    return isUnproposed;
  }

  /**
   * Ends an operation of which nothing has been proposed: it is as if it had never come.
   *
   * @param awaited the partition whose red log it has waited for
   */
  drop(request: RedRequest, awaited = request.partition): void {
    const { executions, proposals, requests, globals, lanes } = this.#parts;
    executions.remove(request, false);
    // Another copy that waits here may still be executed.
    const isAllKnown =
      lanes.all.every(({ partition }) => proposals.hasMarkerPassed(partition)) &&
      globals?.hasHolds(request.id) !== true &&
      !this.#core.hasWaiter(request.id);
    const { waitsFor } = lanes.at(awaited).admission;
    for (const waiter of request.waiters) this.#replyDropped(waiter, isAllKnown, waitsFor);
    for (const follower of requests.drop(request)) executions.release(follower);
    proposals.dropUnwanted();
  }

  #replyDropped(submission: Submission, isAllKnown: boolean, waitsFor: string | undefined): void {
    if (waitsFor === undefined) {
      const error = droppedError(submission, isAllKnown);
      this.#core.reply(submission, 'strong', error);
      return;
    }
    const isSure =
      submission.identity === undefined || (submission.identity.hop === 0 && isAllKnown);
    // The red log does not have it: a retry with the same key is executed.
    const error = isSure ? redAwayError(waitsFor) : redAwayUnknownError(waitsFor);
    this.#core.reply(submission, 'committed', error);
  }

  replyAllLeft(request: RedRequest, awaited = request.partition): void {
    for (const { serial } of request.waiters.slice())
      this.replyLeft(this.#parts.requests.removeWaiter(request, serial), awaited);
  }

  /** Only the latest waiters are answered when an operation ends. */
  replyLeft(submission: Submission | undefined, awaited: number): void {
    if (submission === undefined) return;
    const { waitsFor } = this.#parts.lanes.at(awaited).admission;
    const error = waitsFor === undefined ? callerLeftError() : redAwayUnknownError(waitsFor);
    this.#core.reply(submission, 'strong', error);
  }
}
