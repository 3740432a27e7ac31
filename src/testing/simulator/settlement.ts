import type { Origin } from '../../server/service/records/origin.ts';
import { assertProperty, type Checkers, type FinalState } from './checkers/checker.ts';
import type { History } from './history.ts';
import type { Site } from '../../server/site/site.ts';
import type { SimulatedSite } from './simulated-site.ts';
import type { Timeline } from './timeline.ts';

/** How long late requests have to arrive. */
const SETTLE_MS = 3000;
const CONVERGE_MS = 120_000;
const SETTLE_STEP_MS = 250;

export interface SettlementOptions {
  /** The array of all sites, to which more are added during the run. */
  readonly sites: readonly SimulatedSite[];
  readonly timeline: Timeline;
  readonly history: History;
  readonly checkers: Checkers;
}

/**
 * The end of a run: waits until the sites have exchanged everything, then checks their final states
 * and that nothing is left in flight.
 */
export class Settlement {
  readonly #options: SettlementOptions;

  constructor(options: SettlementOptions) {
    this.#options = options;
  }

  /**
   * Lets late requests arrive and exchanges between the sites end. Returns whether all of them have
   * ended.
   */
  settle(): boolean {
    const { timeline } = this.#options;
    timeline.run(timeline.nowMs + SETTLE_MS);
    const untilMs = timeline.nowMs + CONVERGE_MS;
    const hasSettled = (): boolean =>
      this.#areSitesAlike && this.#remainingSites.every((site) => this.#isIdle(site));
    while (!hasSettled() && timeline.nowMs < untilMs) timeline.run(timeline.nowMs + SETTLE_STEP_MS);
    return hasSettled();
  }

  checkEnd(): void {
    const { checkers, history, sites: all } = this.#options;
    checkers.current = 'progress';
    const sites: FinalState['sites'][number][] = [];
    const lost = new Set<Origin>();
    for (const { origin: site, machine, isLost } of all) {
      if (isLost) lost.add(site);
      else if (machine !== undefined)
        sites.push({
          site,
          state: machine.state,
          origins: machine.options.origins,
        });
    }
    assertProperty(sites.length + lost.size === all.length, () => 'a site is still down');
    checkers.notify('onFinished', { sites, lost, history });

    checkers.current = 'leftovers';
    const busy = all.flatMap((site) => (site.isLost || this.#isIdle(site) ? [] : [site.origin]));
    assertProperty(
      busy.length === 0,
      () => `something is left in flight at site ${busy.join()}, long after all have ended`,
    );
  }

  get #areSitesAlike(): boolean {
    // No vector counts changes of the members, so `isIdle` asks for them.
    const states = this.#remainingSites.map(
      ({ machine }) =>
        machine && `${machine.state.stable.join()} ${machine.redDelivered.toString()}`,
    );
    return states.every((state) => state !== undefined && state === states[0]);
  }

  /**
   * Returns whether nothing waits at the site and no early effect is shown on top of its state. If
   * a site was lost, the others may wait for its messages for ever, which counts as idle. So may
   * what meets a hold of that site: the others do not know that the site and its operations never
   * come back.
   */
  #isIdle({ machine }: SimulatedSite): boolean {
    if (machine === undefined) return false;
    if (this.#hasHoldOfLostSite(machine)) return true;
    const { red, lookups, coverage, state, membership } = machine;
    if (membership.unconfirmed.length > 0) return false;
    if (
      red.isBusy ||
      lookups.isBusy ||
      coverage.isBusy ||
      !state.overlay.isEmpty ||
      !state.pipelined.isEmpty
    )
      return false;
    const hasLostSite = this.#remainingSites.length < this.#options.sites.length;
    return hasLostSite || !machine.isBusy;
  }

  #hasHoldOfLostSite({ red }: Site): boolean {
    const lost = this.#options.sites.filter(({ isLost }) => isLost);
    const holds = red.lanes.all.flatMap(({ order }) => [...(order.holds?.standing.values() ?? [])]);
    return holds.some(({ operation }) => lost.some(({ origin }) => origin === operation.site));
  }

  get #remainingSites(): SimulatedSite[] {
    return this.#options.sites.filter(({ isLost }) => !isLost);
  }
}
