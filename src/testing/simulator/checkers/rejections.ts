/**
 * Checks that `OVERLOADED`, `UNAVAILABLE` and `REPLICA_BEHIND` were necessary,
 * and is never too strict.
 */
import type { Origin } from '../../../server/records/origin.ts';
import { getClient } from '../../../server/records/operation-id.ts';
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
  readonly options: Pick<
    SimulationOptions,
    | 'etcdFaultEveryMs'
    | 'maxRedInFlight'
    | 'maxOperationsPerClient'
    | 'maxReplyBytes'
    | 'sessionTimeoutMs'
  >;
  readonly service: Pick<Service, 'throttled'>;
  readonly reachTimeoutMs: number;
  readonly healthyPeriods: Pick<HealthyPeriods, 'nowMs'>;
  /** They may be added later. */
  readonly sites: readonly Pick<SimulatedSite, 'origin' | 'machine'>[];
}

/** So many bytes of answers no client of a run comes to. */
const MANY_BYTES = 100_000;

export class RejectionChecker implements Checker {
  readonly name = 'refusals';
  readonly #context: RejectionContext;
  /**
   * By site: the operation of each serial that has come since it started, and
   * may wait there.
   */
  readonly #waiting = new Map<Origin, Map<number, string>>();
  /** By client: its operations that have come to some site. */
  readonly #operationsByClient = new Map<string, Set<string>>();
  /**
   * Operations that have waited when no more may: the rejection is reported
   * later, to every submission of it.
   */
  readonly #crowded = new Set<string>();

  constructor(by: RejectionContext) {
    this.#context = by;
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
    if (waiting.size > this.#context.options.maxRedInFlight)
      for (const item of waiting.values()) this.#crowded.add(item);
  }

  onSubmissionEvent({
    site,
    serial,
    operation,
    isEnd,
    code,
  }: SubmissionEvent): void {
    const { options, reachTimeoutMs } = this.#context;
    if (code === 'OVERLOADED') this.#checkOverloaded(site, operation);
    else if (code === 'REPLICA_BEHIND')
      this.#checkWaited(operation, code, options.sessionTimeoutMs);
    else if (code === 'UNAVAILABLE' && !this.#refusesUpdates(site))
      this.#checkWaited(operation, code, reachTimeoutMs);
    // What has been left here, or begun elsewhere, may go on.
    if (isEnd && code !== 'UNKNOWN' && code !== 'ABORTED')
      this.#waiting.get(site)?.delete(serial);
  }

  #checkOverloaded(site: Origin, { id, operation }: ClientOperation): void {
    const { options, service } = this.#context;
    // Later ones may have come before it, where a site was down.
    const others = (this.#operationsByClient.get(getClient(id))?.size ?? 1) - 1;
    const isClientFull =
      others >= options.maxOperationsPerClient ||
      (others > 0 && options.maxReplyBytes < MANY_BYTES);
    if (
      isClientFull ||
      service.throttled?.operations.has(operation) === true ||
      this.#isHalted(site)
    )
      return;
    // Its etcd may be full.
    if (options.etcdFaultEveryMs !== Infinity) return;
    assertProperty(
      this.#crowded.has(id),
      () =>
        `${id} got OVERLOADED at site ${site}, although there was room: ${options.maxRedInFlight} may wait`,
    );
  }

  #refusesUpdates(site: Origin): boolean {
    const machine = this.#context.sites.find(
      ({ origin }) => origin === site,
    )?.machine;
    return (
      this.#isHalted(site) ||
      this.#isJoining(site) ||
      machine?.isConfirmed === false
    );
  }

  /** The red log of the site. */
  #isHalted(site: Origin): boolean {
    return (
      this.#context.sites.find(({ origin }) => origin === site)?.machine
        ?.replica.red.halted !== undefined
    );
  }

  /**
   * Such a site takes no writes before all others know of it, and its own log
   * proves that.
   */
  #isJoining(site: Origin): boolean {
    const machine = this.#context.sites.find(
      ({ origin }) => origin === site,
    )?.machine;
    return machine?.replica.membership.takesWrites === false;
  }

  #checkWaited(
    { id, submittedAtMs }: ClientOperation,
    code: string,
    waitMs: number,
  ): void {
    const waitedMs = this.#context.healthyPeriods.nowMs - submittedAtMs;
    assertProperty(
      waitedMs >= waitMs,
      () =>
        `${id} got ${code} ${waitedMs} ms after its client asked first, and is waited for ${waitMs} ms`,
    );
  }
}
