/**
 * Red requests that wait for rights. Others of their site do not wait for them
 * (docs/spec/rights.md, RIGHTS-5).
 */
import type { RightsListener, RightsShortfall } from '../../core/rights-port.ts';
import { isCorrectableError } from '../../../../correctable/errors.ts';
import type { GeneratorOutcome } from '../../../service/generator/generator-runner.ts';
import type { ReadSet } from '../../../service/generator/read-set.ts';
import type { SiteCore } from '../../core/site-core.ts';
import { takeAllWaiters, waitFor, type RedRequest, type RedRequests } from './red-requests.ts';

export class RightsWaiters {
  readonly #core: SiteCore;
  readonly #requests: RedRequests;

  constructor(core: SiteCore, requests: RedRequests) {
    this.#core = core;
    this.#requests = requests;
  }

  /** Lets a request wait for rights. Returns the requests that go on without it. */
  wait(
    request: RedRequest,
    shortfall: RightsShortfall,
    { onRetry, onTimeout }: RightsListener,
  ): readonly RedRequest[] {
    const { nowMs, rights } = this.#core;
    request.rightsWaitSinceMs = nowMs;
    // Other requests are proposed before it, and it may read what they write.
    request.canDepend = true;
    rights?.wait(shortfall, {
      // The time that it waits for the red order does not count.
      sinceMs: request.rejectedAtMs ?? nowMs - request.rightsWaitedMs,
      isOver: () => request.isOver,
      onRetry: () => {
        const remaining = onRetry();
        if (remaining === undefined) this.#end(request);
        return remaining;
      },
      onTimeout,
    });
    return takeAllWaiters(request);
  }

  /**
   * Returns the rights that a waiting request still lacks, without the operations that it may
   * depend on. If it lacks some, it keeps its position and its timeout.
   */
  findRemainingShortfall(
    { rightsWaitSinceMs }: RedRequest,
    outcome: GeneratorOutcome,
  ): RightsShortfall | undefined {
    if (rightsWaitSinceMs === undefined) return undefined;
    const { rights, state } = this.#core;
    try {
      return rights?.findRedShortfall(outcome, state.store);
    } catch (error) {
      // It takes more than is left. The operations that it may depend on may give some.
      if (!isCorrectableError(error)) throw error;
      return undefined;
    }
  }

  /**
   * Lets a request that has waited wait for the writer of what it reads. Otherwise many requests
   * would be executed again whenever one ends.
   */
  queuesBehind(request: RedRequest, reads: ReadSet): boolean {
    if (request.rightsWaitSinceMs === undefined) return false;
    const writer = this.#requests.findLastWriter(reads, request);
    if (writer === undefined || !isWaitedFor(writer)) return false;
    waitFor(request, writer, 'proposalWaiters');
    return true;
  }

  #end(request: RedRequest): void {
    request.rightsWaitedMs += this.#core.nowMs - (request.rightsWaitSinceMs ?? this.#core.nowMs);
    request.rightsWaitSinceMs = undefined;
    if (!request.isOver) this.#requests.moveToLast(request);
  }
}

/**
 * Whether requests that read what this one is expected to write have to wait until it is proposed.
 */
export function isWaitedFor({ pipelined, rightsWaitSinceMs }: RedRequest): boolean {
  return pipelined === undefined && rightsWaitSinceMs === undefined;
}
