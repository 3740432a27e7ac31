/** Ends a connection when its token does, unless that was renewed. */
import type { Principal } from './host.ts';

/** Longer delays than this overflow a timer. */
const TIMER_MS_MAX = 2 ** 31 - 1;

/** One timer, set anew with every token. */
export class ClientExpiry {
  readonly #onExpired: () => void;
  #timer: NodeJS.Timeout | undefined;

  constructor(onExpired: () => void) {
    this.#onExpired = onExpired;
  }

  /** Waits for the end of this principal's token; returns how long that is, `undefined` if for ever. */
  expect({ expiresAt }: Principal): number | undefined {
    this.stop();
    if (expiresAt === undefined || expiresAt === Infinity) return undefined;
    const leftMs = Math.max(0, Math.floor(expiresAt - Date.now()));
    this.#wait(leftMs);
    return leftMs;
  }

  stop(): void {
    clearTimeout(this.#timer);
  }

  #wait(leftMs: number): void {
    const stepMs = Math.min(leftMs, TIMER_MS_MAX);
    this.#timer = setTimeout(() => {
      if (leftMs > stepMs) this.#wait(leftMs - stepMs);
      else this.#onExpired();
    }, stepMs);
  }
}
