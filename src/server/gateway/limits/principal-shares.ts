/** What each principal takes up at one gateway, over all its connections. */
import type { InternalLimits } from './limits.ts';
import type { PrincipalLoad } from './in-flight-load.ts';
import { RateLimit } from './rate-limit.ts';

type Bounds = Pick<
  InternalLimits,
  'maxConnectionsPerPrincipal' | 'maxOperationsPerSecond'
>;

/** What all connections of a principal have in common. */
export interface PrincipalShare {
  readonly rate: RateLimit;
  readonly load: PrincipalLoad;
}

/**
 * Principals with connections or load, or with some a moment ago: one that
 * returns finds its bucket as it was.
 */
export class Principals {
  readonly #bounds: Bounds;
  readonly #shares = new Map<
    string,
    PrincipalShare & { connections: number }
  >();

  constructor(bounds: Bounds) {
    this.#bounds = bounds;
  }

  get size(): number {
    return this.#shares.size;
  }

  /**
   * Takes a connection for the principal and gives its share; `undefined` if it
   * has as many connections as it may.
   */
  acquire(id: string, nowMs: number): PrincipalShare | undefined {
    let share = this.#shares.get(id);
    if (share === undefined) {
      const rate = new RateLimit(this.#bounds.maxOperationsPerSecond, nowMs);
      this.#shares.set(
        id,
        (share = { connections: 0, rate, load: { bytes: 0 } }),
      );
    }
    if (share.connections >= this.#bounds.maxConnectionsPerPrincipal)
      return undefined;
    share.connections += 1;
    return share;
  }

  release(id: string): void {
    const share = this.#shares.get(id);
    if (share !== undefined) share.connections -= 1;
  }

  /**
   * Forgets those without connections that would find their bucket full, and
   * have nothing in flight.
   */
  forgetIdle(nowMs: number): void {
    for (const [id, { connections, rate, load }] of this.#shares) {
      if (connections === 0 && load.bytes === 0 && rate.isFull(nowMs))
        this.#shares.delete(id);
    }
  }
}
