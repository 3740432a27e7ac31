/** How long to wait before the next attempt: by the policy, and by how often attempts have failed in a row. */
import { guardedReconnect } from './settings/callbacks.ts';
import type { ConnectionSettings } from './settings/options.ts';

/**
 * A connection that has held for so long counts as one that worked. Being welcomed is not enough: a server that welcomes
 * a client only to lose it again would be asked again and again without a pause.
 */
const HELD_MS = 5_000;

/** Counts the failures of one client in a row. */
export class Comeback {
  readonly #now: () => number;
  readonly #delayMs: (attempt: number) => number | undefined;
  #failures = 0;
  #welcomedAt: number | undefined;

  constructor({ scheduling, reconnect, random }: Pick<ConnectionSettings, 'scheduling' | 'reconnect' | 'random'>) {
    this.#now = () => scheduling.now();
    this.#delayMs = guardedReconnect(reconnect, random);
  }

  welcomed(): void {
    this.#welcomedAt = this.#now();
  }

  /** Whether the connection that has just ended had held for a while: what went wrong before it is forgotten then. */
  forgive(): boolean {
    const held = this.#welcomedAt !== undefined && this.#now() - this.#welcomedAt >= HELD_MS;
    this.#welcomedAt = undefined;
    if (held) this.#failures = 0;
    return held;
  }

  /** The delay after a failure, in milliseconds; `undefined` to give up. */
  delayMs(): number | undefined {
    this.#failures++;
    return this.#delayMs(this.#failures);
  }

  /** The delay where nothing failed: none for the first `times` in a row. */
  delayMsUnlessRepeated(times = 1): number | undefined {
    if (this.#failures >= times) return this.delayMs();
    this.#failures++;
    return 0;
  }
}
