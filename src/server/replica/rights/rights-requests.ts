/** What a site has asked for and not been given yet: once at a time, and of more sites where nothing comes. */
import { formatFieldKey, type BoundedName } from './field-name.ts';

/** Why rights are requested: for later use, or for an operation that waits. */
const REQUEST_TARGETS = ['later', 'here', 'pool'] as const;
export type RequestTarget = (typeof REQUEST_TARGETS)[number];

/** A question that may be asked now: of those who have most, or of all, since those did not answer. */
export type RequestMode = 'first' | 'again';

interface RequestTimeouts {
  /** A question is overdue after so long, */
  readonly resendAfterMs: number;
  /** and forgotten after so long. */
  readonly reachTimeoutMs: number;
}

export class RightsRequests {
  readonly #times: RequestTimeouts;
  /** By field and for what: when it was asked last, unless something has come since. The latest stands last. */
  readonly #sentAtMs = new Map<string, number>();

  constructor(times: RequestTimeouts) {
    this.#times = times;
  }

  get size(): number {
    return this.#sentAtMs.size;
  }

  /** Whether it may be asked now: then it counts as asked. */
  takeTurn(name: BoundedName, description: RequestTarget, nowMs: number): RequestMode | undefined {
    if (this.isOpen(name, description, nowMs)) return undefined;
    const isSilent = this.#getSilentMs(name, description, nowMs) < this.#times.reachTimeoutMs;
    this.#evict(nowMs);
    this.#sentAtMs.delete(description + formatFieldKey(name));
    this.#sentAtMs.set(description + formatFieldKey(name), nowMs);
    return isSilent ? 'again' : 'first';
  }

  /** Whether it has been asked, and may still be answered. */
  isOpen(name: BoundedName, description: RequestTarget, nowMs: number): boolean {
    return this.#getSilentMs(name, description, nowMs) < this.#times.resendAfterMs;
  }

  /** Rights of this field have arrived: operations that need more may retry. */
  onAnswered(name: BoundedName): void {
    for (const description of REQUEST_TARGETS) this.#sentAtMs.delete(description + formatFieldKey(name));
  }

  /** What was asked for so long ago that it makes no difference. */
  #evict(nowMs: number): void {
    const { resendAfterMs, reachTimeoutMs } = this.#times;
    for (const [requested, atMs] of this.#sentAtMs) {
      if (nowMs - atMs < Math.max(resendAfterMs, reachTimeoutMs)) return;
      this.#sentAtMs.delete(requested);
    }
  }

  #getSilentMs(name: BoundedName, description: RequestTarget, nowMs: number): number {
    return nowMs - (this.#sentAtMs.get(description + formatFieldKey(name)) ?? -Infinity);
  }
}
