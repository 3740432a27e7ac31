/** What each principal takes up at one gateway, over all its connections. */
import type { GatewayBounds } from './limits.ts';
import type { PrincipalLoad } from './load.ts';
import { RateLimit } from './rate-limit.ts';

type Bounds = Pick<GatewayBounds, 'connectionsPerPrincipalMax' | 'operationsPerSecondMax'>;

/** What all connections of a principal have in common. */
export interface Share {
  readonly rate: RateLimit;
  readonly load: PrincipalLoad;
}

/**
 * The principals that have connections, or had some a moment ago, or have something under way: a principal that comes
 * back finds neither a fresh bucket nor an empty load.
 */
export class Principals {
  readonly #bounds: Bounds;
  readonly #shares = new Map<string, Share & { connections: number }>();

  constructor(bounds: Bounds) {
    this.#bounds = bounds;
  }

  /** Principals remembered. */
  get size(): number {
    return this.#shares.size;
  }

  /** Takes a connection for the principal and gives its share; `undefined` if it has as many connections as it may. */
  enter(id: string, nowMs: number): Share | undefined {
    let share = this.#shares.get(id);
    if (share === undefined) {
      const rate = new RateLimit(this.#bounds.operationsPerSecondMax, nowMs);
      this.#shares.set(id, (share = { connections: 0, rate, load: { bytes: 0 } }));
    }
    if (share.connections >= this.#bounds.connectionsPerPrincipalMax) return undefined;
    share.connections += 1;
    return share;
  }

  /** Gives a connection back. */
  leave(id: string): void {
    const share = this.#shares.get(id);
    if (share !== undefined) share.connections -= 1;
  }

  /** Forgets those without connections that would find their bucket full, and have nothing under way. */
  forgetIdle(nowMs: number): void {
    for (const [id, { connections, rate, load }] of this.#shares) {
      if (connections === 0 && load.bytes === 0 && rate.isFull(nowMs)) this.#shares.delete(id);
    }
  }
}
