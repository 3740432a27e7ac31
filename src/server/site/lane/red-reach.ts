/**
 * Whether red operations of one partition can be ordered, as far as the connections of this site
 * show. They need the leader and a majority of the voters.
 */
import type { Origin, Origins } from '../../service/records/origin.ts';

/** If servers keep the red log, there is no leader. */
export interface RedReachOptions {
  readonly site: Origin;
  readonly origins: Origins;
  readonly redLeader?: Origin | undefined;
  /** The names of the sites that count for a majority. Default: all */
  readonly voters?: readonly string[] | undefined;
  /** The name of the partition, if there are several. */
  readonly partition?: string | undefined;
}

/** The red operations that wait while none can be ordered. */
export interface WaitingRed {
  readonly admission: { waitsFor: string | undefined };
  endWaiting(endsProposed: boolean): void;
}

/** Restarting a leader, or connecting again, takes less time. */
const GRACE_MS = 3000;
/**
 * Operations that may have been proposed wait longer. Their outcome is unknown until the leader is
 * back, so ending them early gains less.
 */
const PROPOSED_GRACE_MS = 6000;

export class RedReach {
  readonly #options: RedReachOptions;
  readonly #red: WaitingRed;
  readonly #lost = new Set<Origin>();
  /** Since when none can be ordered, even if that lasts only for a moment. */
  outSinceMs: number | undefined;

  constructor(options: RedReachOptions, red: WaitingRed) {
    this.#options = options;
    this.#red = red;
  }

  setConnected(site: Origin, isConnected: boolean, nowMs: number): void {
    if (isConnected) this.#lost.delete(site);
    else this.#lost.add(site);
    this.outSinceMs = this.#findMissing().length === 0 ? undefined : (this.outSinceMs ?? nowMs);
    this.note(nowMs);
  }

  /** A message of the site has come. So it runs, and will be connected soon. */
  noteHeard(site: Origin, nowMs: number): void {
    if (this.#lost.has(site)) this.setConnected(site, true, nowMs);
  }

  /** Lets no red operation begin while none can be ordered. */
  note(nowMs: number): void {
    this.#red.admission.waitsFor = this.findProblem(nowMs);
  }

  /** Notifies callers that wait for the red order if that may take long. */
  tick(nowMs: number): void {
    this.note(nowMs);
    const red = this.#red;
    if (red.admission.waitsFor !== undefined)
      red.endWaiting(this.#isOutFor(PROPOSED_GRACE_MS, nowMs));
  }

  /**
   * Returns what red operations wait for, if none can be ordered and that has lasted for a while.
   */
  findProblem(nowMs: number): string | undefined {
    if (!this.#isOutFor(GRACE_MS, nowMs)) return undefined;
    const { site, redLeader: leader, origins, partition } = this.#options;
    const missing = this.#findMissing();
    const names = missing.map((origin) => origins.getName(origin)).join(', ');
    if (missing.length === 0) return undefined;
    const voters =
      partition === undefined ? 'the sites' : `the voters of the partition '${partition}'`;
    const ordered = partition === undefined ? 'them' : `those of the partition '${partition}'`;
    return site === leader
      ? `a majority of ${voters}, of which ${names} ${missing.length === 1 ? 'is' : 'are'} not connected to ${origins.getName(site)}`
      : `the site ${names}, which orders ${ordered} and is not connected to ${origins.getName(site)}`;
  }

  #isOutFor(ms: number, nowMs: number): boolean {
    return this.outSinceMs !== undefined && nowMs - this.outSinceMs >= ms;
  }

  /** The sites without which nothing can be ordered, and which are not connected. */
  #findMissing(): readonly Origin[] {
    const { site, redLeader: leader, origins, voters: named } = this.#options;
    if (leader === undefined) return [];
    if (site !== leader) return this.#lost.has(leader) ? [leader] : [];
    const voters = origins.sites.filter(
      (origin) =>
        origins.get(origin).state === 'open' && named?.includes(origins.getName(origin)) !== false,
    );
    const missing = voters.filter((origin) => this.#lost.has(origin));
    return 2 * (voters.length - missing.length) > voters.length ? [] : missing;
  }
}
