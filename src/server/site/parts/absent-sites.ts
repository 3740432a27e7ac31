/**
 * Finds sites that were disconnected for too long (docs/spec/cluster.md). Log entries that a site
 * lacks are kept for it within limits of time and of number. Beyond these, the site is *left
 * behind*: no entries are kept for it until it sends a message, and from then on only new ones. A
 * site leaves others behind only if a majority of the sites remains. So a majority has everything
 * that is not kept any more.
 */
import type { Origin, Origins } from '../../service/records/origin.ts';

export interface AbsenceLimits {
  /** The maximum of entries that it lacks, of a stream or of the red log. */
  readonly maxBacklogEntries: number;
  /** How long entries are kept after its last message. */
  readonly keepForMs: number;
}

export interface LeavingOutcome {
  readonly left: readonly Origin[];
  /**
   * Sites for which everything is kept, because they must not be left behind. Empty unless these
   * sites, or `isFull`, have changed.
   */
  readonly cutOff: readonly Origin[];
}

export class AbsentSites {
  /** Whether the maximum of entries is kept for sites that must not be left behind. */
  isFull = false;
  readonly #origins: Origins;
  readonly #site: Origin;
  readonly #startedAtMs: number;
  readonly #heardAtMs = new Map<Origin, number>();
  readonly #leftBehind = new Set<Origin>();
  /** Sites that have been silent for a quarter of `keepForMs`, even if they lack nothing. */
  #quiet: readonly Origin[] = [];
  #isCutOff = false;
  #probedAtMs = -Infinity;

  constructor(origins: Origins, site: Origin, startedAtMs: number) {
    this.#origins = origins;
    this.#site = site;
    this.#startedAtMs = startedAtMs;
  }

  get leftBehind(): ReadonlySet<Origin> {
    return this.#leftBehind;
  }

  /** Whether sites are beyond the limits. Then ticks are needed although nothing is in flight. */
  get isWaiting(): boolean {
    return this.#leftBehind.size > 0 || this.#isCutOff;
  }

  /**
   * Returns the sites that get a red log, and those that count for a majority.
   *
   * @param origins the members as the log has them. Default: as `main` has them
   */
  getLogMembers(origins = this.#origins): {
    readonly sites: Origin[];
    readonly voters: Origin[];
  } {
    const { members } = origins;
    return {
      sites: members.filter((site) => !this.#leftBehind.has(site)),
      voters: members.filter((site) => origins.get(site).state === 'open'),
    };
  }

  /**
   * Returns when a site last sent a message. It is `undefined` if it has sent none at this start.
   */
  getHeardAtMs(site: Origin): number | undefined {
    return this.#heardAtMs.get(site);
  }

  /**
   * Called when a message of a site was accepted. Returns whether the site was left behind before.
   */
  noteHeard(site: Origin, nowMs: number): boolean {
    this.#heardAtMs.set(site, nowMs);
    return this.#leftBehind.delete(site);
  }

  getReachable(nowMs: number, withinMs: number): Origin[] {
    const isHeard = (site: Origin): boolean =>
      nowMs - (this.#heardAtMs.get(site) ?? -Infinity) <= withinMs;
    return this.#origins.getOthers(this.#site).filter(isHeard);
  }

  /**
   * Returns the sites that have to be probed now, because neither side may have anything else to
   * send.
   */
  takeProbed(nowMs: number, intervalMs: number): Iterable<Origin> {
    if (nowMs - this.#probedAtMs < intervalMs) return [];
    this.#probedAtMs = nowMs;
    return [...this.#leftBehind, ...this.#quiet];
  }

  /**
   * Leaves sites behind that lack more than may be kept for them, if a majority remains. The leader
   * breaks a tie.
   */
  leaveBehind(
    nowMs: number,
    limits: AbsenceLimits,
    leader: Origin | undefined,
    getBacklog: (site: Origin) => number,
  ): LeavingOutcome {
    const isOver = (site: Origin): boolean => getBacklog(site) > limits.maxBacklogEntries;
    const getSilentMs = (site: Origin): number =>
      nowMs - (this.#heardAtMs.get(site) ?? this.#startedAtMs);
    const kept = this.#origins.getOthers(this.#site).filter((site) => !this.#leftBehind.has(site));
    this.#quiet = kept.filter((site) => 4 * getSilentMs(site) > limits.keepForMs);
    const beyond = kept.filter(
      (site) => isOver(site) || (getSilentMs(site) > limits.keepForMs && getBacklog(site) > 0),
    );
    // A site that lacks nothing, or was heard only a little later, may be disconnected too. It does
    // not count as a remaining site.
    const unheard = kept.filter((site) => 2 * getSilentMs(site) > limits.keepForMs);
    const isCutOff = beyond.length > 0 && !this.mayLeave([...beyond, ...unheard], leader);
    const isFull = isCutOff && beyond.some(isOver);
    const isNew = (isCutOff && !this.#isCutOff) || (isFull && !this.isFull);
    [this.#isCutOff, this.isFull] = [isCutOff, isFull];
    if (isCutOff) return { left: [], cutOff: isNew ? beyond : [] };
    for (const site of beyond) this.#leftBehind.add(site);
    return { left: beyond, cutOff: [] };
  }

  /**
   * Returns whether a majority of the sites remains without these. One of two sites is no majority,
   * even if it is the leader.
   */
  mayLeave(beyond: readonly Origin[], leader: Origin | undefined): boolean {
    const { sites, voters } = this.getLogMembers();
    const remaining = voters.filter((site) => sites.includes(site) && !beyond.includes(site));
    const doubled = 2 * remaining.length;
    if (doubled !== voters.length) return doubled > voters.length;
    return remaining.length > 1 && leader !== undefined && remaining.includes(leader);
  }
}
