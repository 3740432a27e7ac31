/**
 * Sites that are heard, and confirm nothing of what they lack. The link is up
 * then, and the site is not away, so no other alarm names the cause: a message
 * that does not get through, a full disk.
 */
import type { Origin } from '../records/origin.ts';

const STALLED_AFTER_MS = 60_000;

export interface PeerProgress {
  /**
   * How much it has confirmed of all streams and of the red log. Grows whenever
   * it gets on.
   */
  readonly confirmed: number;
  /** How many entries are kept that it lacks. */
  readonly backlog: number;
  /** When a message of it was last taken. */
  readonly heardAtMs: number | undefined;
}

interface KnownProgress {
  readonly confirmed: number;
  /** When it got on, or lacked nothing. */
  readonly atMs: number;
  readonly isReported: boolean;
}

export class StalledSites {
  readonly #known = new Map<Origin, KnownProgress>();

  /** Whether the site is to be reported now: once until it gets on. */
  note(
    site: Origin,
    { confirmed, backlog, heardAtMs }: PeerProgress,
    nowMs: number,
  ): boolean {
    const known = this.#known.get(site);
    if (known === undefined || backlog === 0 || known.confirmed !== confirmed) {
      this.#known.set(site, { confirmed, atMs: nowMs, isReported: false });
      return false;
    }

    const isHeard = nowMs - (heardAtMs ?? -Infinity) < STALLED_AFTER_MS;
    if (known.isReported || !isHeard || nowMs - known.atMs < STALLED_AFTER_MS)
      return false;
    this.#known.set(site, { ...known, isReported: true });
    return true;
  }
}
