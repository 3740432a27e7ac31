/**
 * Checks that each `OVERLOADED`, `UNAVAILABLE` and `REPLICA_BEHIND` was necessary. The check itself
 * is never too strict.
 */
import type { Origin } from '../../../server/service/records/origin.ts';
import { getClient } from '../../../server/site/core/operation-id.ts';
import type { Service } from '../../../server/service/service.ts';
import type { HealthyPeriods } from '../timeline.ts';
import type { ClientOperation } from '../history.ts';
import type { SimulationOptions } from '../options.ts';
import type { SimulatedSite } from '../simulated-site.ts';
import {
  assertProperty,
  type Checker,
  type ClientSubmission,
  type SubmissionEvent,
} from './checker.ts';

export interface RejectionContext {
  readonly options: SimulationOptions;
  readonly service: Service;
  readonly reachTimeoutMs: number;
  readonly healthyPeriods: HealthyPeriods;
  /** Sites may be added later. */
  readonly sites: readonly SimulatedSite[];
}

/** More bytes of replies than any client of a run gets. */
const MANY_BYTES = 100_000;

export class RejectionChecker implements Checker {
  readonly name = 'refusals';
  readonly #context: RejectionContext;
  /**
   * The operation of each serial that arrived at a site since its start and may wait there, by
   * site.
   */
  readonly #waiting = new Map<Origin, Map<number, string>>();
  /** The operations of a client that arrived at some site, by client. */
  readonly #operationsByClient = new Map<string, Set<string>>();
  /**
   * Operations that have waited at the limit. The rejection is reported later, to every submission
   * of the operation.
   */
  readonly #crowded = new Set<string>();

  constructor(context: RejectionContext) {
    this.#context = context;
  }

  onStarted(site: Origin): void {
    this.#waiting.set(site, new Map());
  }

  onSubmitted({ site, serial, id, wants }: ClientSubmission): void {
    const client = getClient(id);
    this.#operationsByClient.set(
      client,
      (this.#operationsByClient.get(client) ?? new Set()).add(id),
    );
    const waiting = this.#waiting.get(site);
    if (!wants.strong || waiting === undefined) return;
    waiting.set(serial, id);
    // Each red log has an equal share of the places.
    const { maxRedInFlight, maxLogs } = this.#context.options;
    if (waiting.size > maxRedInFlight / maxLogs)
      for (const item of waiting.values()) this.#crowded.add(item);
  }

  onSubmissionEvent({ site, serial, operation, isEnd, code }: SubmissionEvent): void {
    const { options, reachTimeoutMs } = this.#context;
    if (code === 'OVERLOADED') this.#checkOverloaded(site, operation);
    else if (code === 'REPLICA_BEHIND')
      this.#checkWaited(operation, code, options.sessionTimeoutMs);
    else if (code === 'UNAVAILABLE' && !this.#refusesUpdates(site))
      this.#checkWaited(operation, code, reachTimeoutMs);
    // An operation that was left here, or begun elsewhere, may continue.
    if (isEnd && code !== 'UNKNOWN' && code !== 'ABORTED') this.#waiting.get(site)?.delete(serial);
  }

  #checkOverloaded(site: Origin, { id, operation }: ClientOperation): void {
    const { options, service } = this.#context;
    // Later operations may have arrived before it if a site was down.
    const others = (this.#operationsByClient.get(getClient(id))?.size ?? 1) - 1;
    const isClientFull =
      others >= Math.floor(options.maxOperationsPerClient / options.maxLogs) ||
      (others > 0 && options.maxReplyBytes < MANY_BYTES);
    if (
      isClientFull ||
      service.throttled?.operations.has(operation) === true ||
      this.#isHalted(site) ||
      // What was in flight counted too, and may have ended since.
      options.maxMemoryBytes !== Infinity
    )
      return;
    // The etcd of the site may be full.
    if (options.etcdFaultEveryMs !== Infinity) return;
    assertProperty(
      this.#crowded.has(id),
      () =>
        `${id} got OVERLOADED at site ${site}, although there was room: ${options.maxRedInFlight} may wait`,
    );
  }

  #refusesUpdates(site: Origin): boolean {
    const machine = this.#context.sites.find(({ origin }) => origin === site)?.machine;
    return this.#isHalted(site) || this.#isJoining(site) || machine?.isConfirmed === false;
  }

  /** Returns whether the red log of the site has halted. */
  #isHalted(site: Origin): boolean {
    return (
      this.#context.sites
        .find(({ origin }) => origin === site)
        ?.machine?.red.lanes.all.some(({ admission }) => admission.halted !== undefined) === true
    );
  }

  /**
   * Returns whether a site is joining. It accepts no writes before all others know it, and its own
   * log proves that.
   */
  #isJoining(site: Origin): boolean {
    const machine = this.#context.sites.find(({ origin }) => origin === site)?.machine;
    return machine?.membership.takesWrites === false;
  }

  #checkWaited({ id, submittedAtMs }: ClientOperation, code: string, waitMs: number): void {
    const waitedMs = this.#context.healthyPeriods.nowMs - submittedAtMs;
    assertProperty(
      waitedMs >= waitMs,
      () =>
        `${id} got ${code} ${waitedMs} ms after its client asked first, and is waited for ${waitMs} ms`,
    );
  }
}
