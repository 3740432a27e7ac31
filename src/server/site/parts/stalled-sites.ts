/**
 * Finds sites that send messages, but confirm none of the entries that they lack. Their connection
 * is open, so no other alarm reports the problem. Causes are a message that does not arrive, or a
 * full disk.
 */
import type { Origin } from '../../service/records/origin.ts';

const STALLED_AFTER_MS = 60_000;

export interface PeerProgress {
  /**
   * The number of entries of all streams and of the red log that it has confirmed. It grows
   * whenever the site advances.
   */
  readonly confirmed: number;
  /** The number of entries that are kept because it lacks them. */
  readonly backlog: number;
  /** When a message of the site was last accepted. */
  readonly heardAtMs: number | undefined;
}

interface KnownProgress {
  readonly confirmed: number;
  /** When the site last advanced, lacked nothing, or was disconnected. */
  readonly atMs: number;
  readonly isReported: boolean;
}

export class StalledSites {
  readonly #known = new Map<Origin, KnownProgress>();
  readonly #disconnected = new Set<Origin>();

  /** The time without progress counts only while the site is connected. */
  setConnected(site: Origin, isConnected: boolean): void {
    if (isConnected) this.#disconnected.delete(site);
    else this.#disconnected.add(site);
  }

  /** Returns whether to report the site now: once until it advances. */
  note(site: Origin, { confirmed, backlog, heardAtMs }: PeerProgress, nowMs: number): boolean {
    const known = this.#known.get(site);
    if (known === undefined || backlog === 0 || known.confirmed !== confirmed) {
      this.#known.set(site, { confirmed, atMs: nowMs, isReported: false });
      return false;
    }

    if (this.#disconnected.has(site)) {
      this.#known.set(site, { ...known, atMs: nowMs });
      return false;
    }

    const isHeard = nowMs - (heardAtMs ?? -Infinity) < STALLED_AFTER_MS;
    if (known.isReported || !isHeard || nowMs - known.atMs < STALLED_AFTER_MS) return false;
    this.#known.set(site, { ...known, isReported: true });
    return true;
  }
}
