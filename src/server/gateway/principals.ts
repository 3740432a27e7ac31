/** What each principal takes up at one gateway, over all its connections. */
import type { GatewayLimits } from './limits.ts';
import { PrincipalLoad } from './load.ts';
import { RateLimit } from './rate-limit.ts';

type Bounds = Pick<GatewayLimits, 'connectionsPerPrincipalMax' | 'operationsPerSecondPerPrincipalMax'>;

/** How long a principal without connections is remembered: until its bucket would be full again. */
const REMEMBERED_MS = 1000;

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
  readonly #shares = new Map<string, Known>();
  /** Those without connections, by when the last one was left, or they were last looked at. */
  readonly #idle = new Map<string, Known>();

  constructor(bounds: Bounds) {
    this.#bounds = bounds;
  }

  /** Principals remembered. */
  get size(): number {
    return this.#shares.size;
  }

  /** Takes a connection for the principal and gives its share; `undefined` if it has as many connections as it may. */
  enter(id: string, nowMs: number): Share | undefined {
    this.#forget(nowMs);
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
    share.leftAtMs = nowMs;
    this.#idle.set(id, share);
  }

  #forget(nowMs: number): void {
    for (const [id, share] of this.#idle) {
      if (nowMs - share.leftAtMs < REMEMBERED_MS) return;
      this.#idle.delete(id);
      if (share.load.bytes === 0) this.#shares.delete(id);
      else {
        share.leftAtMs = nowMs;
        this.#idle.set(id, share);
      }
    }
  }
}
