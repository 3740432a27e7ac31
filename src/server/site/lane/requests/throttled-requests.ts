/**
 * The throttled requests of one site whose home is one partition: those that have a slot, and those
 * that wait for one (docs/spec/thresholds.md).
 */
import {
  CommitLatency,
  type PendingCommit,
} from '../../../../correctable/throttle/commit-latency.ts';
import { CorrectableError } from '../../../../correctable/errors.ts';
import { ThrottleSlots } from '../../../../correctable/throttle/throttle-slots.ts';
import type {
  ConcurrentWriters,
  Throttle,
} from '../../../../correctable/throttle/concurrent-writes.ts';
import type { Origins } from '../../../service/records/origin.ts';
import type { RedRequest } from './red-requests.ts';
import type { OperationPlan } from '../../../service/operation-plan.ts';
import type { Service } from '../../../service/service.ts';

/**
 * The number of turns of a whole window for which a request may wait. Later requests are rejected
 * at once.
 */
const MAX_WAITED_SLOTS = 8;

export class ThrottledRequests {
  readonly #slots: ThrottleSlots;
  readonly #maxWaiting: number;
  readonly #throttle: Throttle;
  readonly #origins: Origins;
  readonly #commitLatency = new CommitLatency();
  readonly #running = new Map<RedRequest, PendingCommit>();
  readonly #waiting = new Set<RedRequest>();

  /** @param share the part of the places that this partition has */
  constructor({ throttled }: Service, origins: Origins, share = 1) {
    const { minSlotIntervalMs, ...limits } = throttled ?? UNTHROTTLED;
    const maxInFlight = Math.ceil(limits.maxInFlight * share);
    this.#slots = new ThrottleSlots({ maxInFlight, minSlotIntervalMs });
    this.#maxWaiting = MAX_WAITED_SLOTS * maxInFlight;
    this.#throttle = { maxInFlight, minSlotIntervalMs };
    this.#origins = origins;
  }

  /** Why no more of this operation may begin here, if so many wait already. */
  getRejection({ isThrottled }: OperationPlan): CorrectableError | undefined {
    if (this.#waiting.size < this.#maxWaiting || !isThrottled) return undefined;
    const message = `${this.#maxWaiting} operations wait for their turn at this site already: it takes no more. Nothing was done.`;
    return new CorrectableError('OVERLOADED', message);
  }

  /**
   * Whether the request may begin. Otherwise it waits for its turn, or fails with `OVERLOADED` if
   * too many wait.
   */
  enter(request: RedRequest, nowMs: number): boolean {
    const { plan } = request.submission;
    if (!plan.isThrottled) return true;
    if (this.#waiting.size === 0 && this.#take(request, nowMs)) return true;
    const rejection = this.getRejection(plan);
    if (rejection !== undefined) throw rejection;
    this.#waiting.add(request);
    return false;
  }

  /** Whether a request waits for a slot. */
  get isWaiting(): boolean {
    return this.#waiting.size > 0;
  }

  /** Returns the next waiting request if it may begin now. */
  takeNext(nowMs: number): RedRequest | undefined {
    const [first] = this.#waiting;
    if (first === undefined || !this.#take(first, nowMs)) return undefined;
    this.#waiting.delete(first);
    return first;
  }

  /**
   * A request has ended.
   *
   * @param isOwn whether it ended by a record that this site has proposed. Then its duration is a
   * measurement of the commit latency.
   */
  release(request: RedRequest, nowMs: number, isOwn: boolean): void {
    this.#waiting.delete(request);
    const awaited = this.#running.get(request);
    if (awaited === undefined) return;
    this.#running.delete(request);
    if (isOwn) this.#commitLatency.end(awaited, nowMs);
    else this.#commitLatency.discard(awaited);
    this.#slots.release(awaited.startedAtMs, nowMs);
  }

  /**
   * When to check again which request may begin. It is `undefined` if no request waits, or if all
   * wait for others to end.
   */
  get wakeAtMs(): number | undefined {
    return this.#waiting.size === 0 ? undefined : this.#slots.nextFreeAtMs;
  }

  /**
   * Returns which concurrent writes a preview of the request cannot know. It is `undefined` if that
   * is unknown.
   */
  getConcurrentWriters(request: RedRequest, nowMs: number): ConcurrentWriters | undefined {
    if (!this.#running.has(request)) return undefined;
    const throttles = this.#origins.members.slice(1).map(() => this.#throttle);
    const commitLatencyMs = throttles.length === 0 ? 0 : this.#commitLatency.estimateMs(nowMs);
    return commitLatencyMs === undefined ? undefined : { commitLatencyMs, throttles };
  }

  #take(request: RedRequest, nowMs: number): boolean {
    if (!this.#slots.tryAcquire(nowMs)) return false;
    this.#running.set(request, this.#commitLatency.begin(nowMs));
    return true;
  }
}

const UNTHROTTLED: Throttle = {
  maxInFlight: 0,
  minSlotIntervalMs: 0,
};
