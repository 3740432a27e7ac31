/**
 * Sites that have been away for too long (docs/spec/cluster.md). What a site lacks is kept for it within bounds, of time and of
 * entries. Beyond these it is left behind: nothing is kept for it before it is heard again, and then from there on.
 */
import type { Origin, Origins } from '../records/origin.ts';

/** How much is kept for a site that is away. */
export interface AbsenceLimits {
  /** Entries of a stream, or of the red log, that it lacks. */
  readonly maxBacklogEntries: number;
  /** Since it was last heard. */
  readonly keepForMs: number;
}

/** The other sites, as one hears of them. */
export class AbsentSites {
  readonly #origins: Origins;
  readonly #site: Origin;
  readonly #startedAtMs: number;
  readonly #heardAtMs = new Map<Origin, number>();
  readonly #leftBehind = new Set<Origin>();
  #probedAtMs = -Infinity;

  constructor(origins: Origins, site: Origin, startedAtMs: number) {
    this.#origins = origins;
    this.#site = site;
    this.#startedAtMs = startedAtMs;
  }

  get leftBehind(): ReadonlySet<Origin> {
    return this.#leftBehind;
  }

  /** When a site was last heard; `undefined` if not at this start. */
  getHeardAtMs(site: Origin): number | undefined {
    return this.#heardAtMs.get(site);
  }

  /** A message of a site was taken. Says whether it was left behind before. */
  noteHeard(site: Origin, nowMs: number): boolean {
    this.#heardAtMs.set(site, nowMs);
    return this.#leftBehind.delete(site);
  }

  /** The other members that were heard within a time. */
  getReachable(nowMs: number, withinMs: number): Origin[] {
    const isHeard = (site: Origin): boolean => nowMs - (this.#heardAtMs.get(site) ?? -Infinity) <= withinMs;
    return this.#origins.getOthers(this.#site).filter(isHeard);
  }

  /** Those left behind that are to be asked for a sign now: neither side may have anything else to send. */
  takeProbed(nowMs: number, intervalMs: number): Iterable<Origin> {
    if (nowMs - this.#probedAtMs < intervalMs) return [];
    this.#probedAtMs = nowMs;
    return this.#leftBehind;
  }

  /** Leaves sites behind that lack more than may be kept for them, and gives these. */
  leaveBehind(nowMs: number, limits: AbsenceLimits, getBacklog: (site: Origin) => number): Origin[] {
    const left: Origin[] = [];
    for (const site of this.#origins.getOthers(this.#site)) {
      if (this.#leftBehind.has(site)) continue;
      const backlog = getBacklog(site);
      const silentMs = nowMs - (this.#heardAtMs.get(site) ?? this.#startedAtMs);
      if (backlog <= limits.maxBacklogEntries && (backlog === 0 || silentMs <= limits.keepForMs)) continue;
      this.#leftBehind.add(site);
      left.push(site);
    }
    return left;
  }
}
