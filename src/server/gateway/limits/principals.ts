/** What each principal takes up at one gateway, over all its connections. */
import type { GatewayLimits } from './limits.ts';
import { PrincipalLoad } from './load.ts';
import { fillMs, RateLimit } from './rate-limit.ts';

type Bounds = Pick<GatewayLimits, 'connectionsPerPrincipalMax' | 'operationsPerSecondPerPrincipalMax'>;

/** What all connections of a principal have in common. */
export interface Share {
  readonly rate: RateLimit;
  readonly load: PrincipalLoad;
}

interface Known extends Share {
  connections: number;
  leftAtMs: number;
}

/**
 * The principals that have connections, or had some a moment ago, or have something under way: who comes back finds
 * neither a fresh bucket nor an empty load.
 */
export class Principals {
  readonly #bounds: Bounds;
  /** How long a principal without connections is remembered: until its bucket is full again. */
  readonly #rememberedMs: number;
  readonly #shares = new Map<string, Known>();
  /** Those without connections, by when the last one was left, or they were last looked at. */
  readonly #idle = new Map<string, Known>();

  constructor(bounds: Bounds) {
    this.#bounds = bounds;
    this.#rememberedMs = fillMs(bounds.operationsPerSecondPerPrincipalMax);
  }

  /** Principals remembered. */
  get size(): number {
    return this.#shares.size;
  }

  /** Takes a connection for the principal and gives its share; `undefined` if it has as many connections as it may. */
  enter(id: string, nowMs: number): Share | undefined {
    this.forgetIdle(nowMs);
    let share = this.#shares.get(id);
    if ((share?.connections ?? 0) >= this.#bounds.connectionsPerPrincipalMax) return undefined;
    if (share === undefined) {
      const rate = new RateLimit(this.#bounds.operationsPerSecondPerPrincipalMax, nowMs);
      this.#shares.set(id, (share = { connections: 0, leftAtMs: 0, rate, load: new PrincipalLoad() }));
    }
    this.#idle.delete(id);
    share.connections += 1;
    return share;
  }

  /** Gives a connection back. */
  leave(id: string, nowMs: number): void {
    const share = this.#shares.get(id);
    if (share === undefined) return;
    share.connections -= 1;
    if (share.connections > 0) return;
    if (this.#rememberedMs === 0 && share.load.bytes === 0) return void this.#shares.delete(id);
    share.leftAtMs = nowMs;
    this.#idle.set(id, share);
    return undefined;
  }

  /** Forgets those that left so long ago that they would find their bucket full, and have nothing under way. */
  forgetIdle(nowMs: number): void {
    for (const [id, share] of this.#idle) {
      // At least until the next moment: what is kept goes to the end of the line, and would come again.
      if (nowMs - share.leftAtMs < Math.max(1, this.#rememberedMs)) return;
      this.#idle.delete(id);
      if (share.load.bytes === 0) this.#shares.delete(id);
      else {
        share.leftAtMs = nowMs;
        this.#idle.set(id, share);
      }
    }
  }
}
