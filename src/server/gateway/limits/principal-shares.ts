import type { PrincipalLoad } from './in-flight-load.ts';
import { RateLimit } from './rate-limit.ts';

/** The limits of one principal, over all its connections. */
export interface PrincipalLimits {
  readonly maxConnectionsPerPrincipal: number;
  readonly maxOperationsPerSecond: number;
}

/** The load and the rate limit that all connections of a principal share. */
export interface PrincipalShare {
  readonly rate: RateLimit;
  readonly load: PrincipalLoad;
}

/**
 * Principals that have connections or load, or had some recently. So a principal that reconnects
 * soon does not get a fresh rate limit.
 */
export class Principals {
  readonly #limits: PrincipalLimits;
  readonly #shares = new Map<string, PrincipalShare & { connections: number }>();

  constructor(limits: PrincipalLimits) {
    this.#limits = limits;
  }

  get size(): number {
    return this.#shares.size;
  }

  /**
   * Counts a connection of the principal and returns its share; `undefined` if it has reached its
   * maximum of connections.
   */
  acquire(id: string, nowMs: number): PrincipalShare | undefined {
    let share = this.#shares.get(id);
    if (share === undefined) {
      const rate = new RateLimit(this.#limits.maxOperationsPerSecond, nowMs);
      this.#shares.set(id, (share = { connections: 0, rate, load: { bytes: 0 } }));
    }
    if (share.connections >= this.#limits.maxConnectionsPerPrincipal) return undefined;
    share.connections += 1;
    return share;
  }

  release(id: string): void {
    const share = this.#shares.get(id);
    if (share !== undefined) share.connections -= 1;
  }

  /** Forgets principals without connections and load whose rate limit has recovered. */
  forgetIdle(nowMs: number): void {
    for (const [id, { connections, rate, load }] of this.#shares) {
      if (connections === 0 && load.bytes === 0 && rate.isFull(nowMs)) this.#shares.delete(id);
    }
  }
}
