/** What each principal takes up at one gateway, over all its connections. */
import type { GatewayLimits } from './limits.ts';
import { fillMs, RateLimit } from './rate-limit.ts';

type Bounds = Pick<GatewayLimits, 'connectionsPerPrincipalMax' | 'operationsPerSecondPerPrincipalMax'>;

interface Share {
  connections: number;
  leftAtMs: number;
  readonly rate: RateLimit;
}

/** The principals that have connections, or had some a moment ago: who comes back finds no fresh bucket. */
export class Principals {
  readonly #bounds: Bounds;
  /** How long a principal without connections is remembered: until its bucket is full again. */
  readonly #rememberedMs: number;
  readonly #shares = new Map<string, Share>();
  /** Those without connections, by when the last one was left. */
  readonly #idle = new Map<string, Share>();

  constructor(bounds: Bounds) {
    this.#bounds = bounds;
    this.#rememberedMs = fillMs(bounds.operationsPerSecondPerPrincipalMax);
  }

  /** Principals remembered. */
  get size(): number {
    return this.#shares.size;
  }

  /** Takes a connection for the principal and gives its rate; `undefined` if it has as many connections as it may. */
  enter(id: string, nowMs: number): RateLimit | undefined {
    this.forgetIdle(nowMs);
    let share = this.#shares.get(id);
    if ((share?.connections ?? 0) >= this.#bounds.connectionsPerPrincipalMax) return undefined;
    if (share === undefined) {
      const rate = new RateLimit(this.#bounds.operationsPerSecondPerPrincipalMax, nowMs);
      this.#shares.set(id, (share = { connections: 0, leftAtMs: 0, rate }));
    }
    this.#idle.delete(id);
    share.connections += 1;
    return share.rate;
  }

  /** Gives a connection back. */
  leave(id: string, nowMs: number): void {
    const share = this.#shares.get(id);
    if (share === undefined) return;
    share.connections -= 1;
    if (share.connections > 0) return;
    if (this.#rememberedMs === 0) return void this.#shares.delete(id);
    share.leftAtMs = nowMs;
    this.#idle.set(id, share);
    return undefined;
  }

  /** Forgets those that left so long ago that they would find their bucket full. */
  forgetIdle(nowMs: number): void {
    for (const [id, { leftAtMs }] of this.#idle) {
      if (nowMs - leftAtMs < this.#rememberedMs) return;
      this.#idle.delete(id);
      this.#shares.delete(id);
    }
  }
}
