/**
 * What a site does about sites that are away (docs/spec/cluster.md, CLU-A1 and CLU-A2): it keeps
 * what they lack within bounds, and notices if it is itself one that others keep nothing for.
 */
import type { AbsentSites } from './absent-sites.ts';
import { StalledSites } from './stalled-sites.ts';
import type { Origin } from '../../service/records/origin.ts';
import type { Lanes } from '../lane/lane.ts';
import type { WholeSite } from '../whole-site.ts';
import { getLogMembers, type SiteOptions } from '../site-options.ts';

export class AbsenceWatch {
  readonly #options: SiteOptions;
  readonly #absent: AbsentSites;
  readonly #site: WholeSite;
  readonly #lanes: Lanes;
  readonly #stalled = new StalledSites();

  constructor(options: SiteOptions, absent: AbsentSites, site: WholeSite) {
    this.#options = options;
    this.#absent = absent;
    this.#site = site;
    this.#lanes = site.red.lanes;
  }

  noteHeard(site: Origin, nowMs: number): void {
    if (this.#absent.noteHeard(site, nowMs)) this.#updateReceivers();
  }

  setConnected(site: Origin, isConnected: boolean): void {
    this.#stalled.setConnected(site, isConnected);
  }

  /**
   * The members have changed, as a red log has them: it goes to other sites. The others have them
   * once their copies are delivered.
   */
  onMembersChanged(partition: number): void {
    const { node, order } = this.#lanes.at(partition);
    const { members } = order;
    const named = this.#absent.getLogMembers(members);
    node.setMembers?.(getLogMembers(this.#options, partition, members, named));
  }

  tick(nowMs: number): void {
    if (this.#options.absence === undefined) return;
    this.#leaveBehind(nowMs, this.#options.absence);
    const { origins, resendAfterMs, site } = this.#options;
    for (const quiet of this.#absent.takeProbed(nowMs, resendAfterMs)) this.#site.blue.probe(quiet);
    for (const other of origins.getOthers(site)) this.#reportStalled(other, nowMs);
  }

  /** Whether the site lacks operations of other sites that no site keeps for it any more. */
  isLeftBehind(nowMs: number): boolean {
    const { reachTimeoutMs } = this.#options;
    const reachable = this.#absent.getReachable(nowMs, reachTimeoutMs);
    return this.#site.blue.streams.isGoneAt(reachable);
  }

  #leaveBehind(nowMs: number, limits: NonNullable<SiteOptions['absence']>): void {
    const { observer, redLeader } = this.#options;
    const { left, cutOff } = this.#absent.leaveBehind(nowMs, limits, redLeader, (site) =>
      this.#getBacklog(site),
    );
    if (left.length > 0) this.#updateReceivers();
    for (const site of left) observer?.onLeftBehind?.(site);
    if (cutOff.length > 0) observer?.onCutOff?.(cutOff, this.#absent.isFull);
  }

  #reportStalled(site: Origin, nowMs: number): void {
    let confirmed = this.#site.blue.streams.getConfirmed(site);
    for (const { node } of this.#lanes) confirmed += node.getConfirmed?.(site) ?? 0;
    const backlog = this.#getBacklog(site);
    const heardAtMs = this.#absent.getHeardAtMs(site);
    if (this.#stalled.note(site, { confirmed, backlog, heardAtMs }, nowMs))
      this.#options.observer?.onStalled?.(site, backlog);
  }

  #getBacklog(site: Origin): number {
    let most = this.#site.blue.streams.getBacklog(site);
    for (const { node } of this.#lanes) most = Math.max(most, node.getBacklog?.(site) ?? 0);
    return most;
  }

  #updateReceivers(): void {
    this.#site.blue.streams.leaveBehind(this.#absent.leftBehind);
    for (const { partition } of this.#lanes) this.onMembersChanged(partition);
  }
}
