/** The streams of primaries that this process has seen to be replaced. */
import type { Clock } from '../../correctable/clock.ts';
import { RecentMap } from '../shared/recent-map.ts';
import type { ValkeyPosition } from './replication-position.ts';

/** After so many promotions, the first one is forgotten. */
const MAX_STREAMS = 64;
/**
 * If the name of the primary leads to old primaries only for this time, the promotions were taken
 * back.
 */
export const TAKEN_BACK_AFTER_MS = 60_000;

export class OldStreams {
  readonly #ids = new RecentMap<true>(MAX_STREAMS);
  readonly #clock: Clock;
  readonly #onTakenBack: (id: string) => void;
  /** Since when each answer was one of an old primary. */
  #onlyOldSinceMs: number | undefined;

  constructor(clock: Clock, onTakenBack: (id: string) => void) {
    this.#clock = clock;
    this.#onTakenBack = onTakenBack;
  }

  /** Notes an answer of a primary that counts, and which stream it has ended. */
  note(position: ValkeyPosition | undefined): void {
    if (position === undefined) return;
    this.#onlyOldSinceMs = undefined;
    const id = position.earlier?.id;
    if (id !== undefined && !this.#ids.has(id)) this.#ids.set(id, true);
  }

  /** Returns whether a primary with this stream is an old one. */
  has(id: string): boolean {
    if (!this.#ids.has(id)) return false;
    const now = this.#clock.now();
    this.#onlyOldSinceMs ??= now;
    if (now - this.#onlyOldSinceMs < TAKEN_BACK_AFTER_MS) return true;
    this.#ids.clear();
    this.#onTakenBack(id);
    return false;
  }
}
