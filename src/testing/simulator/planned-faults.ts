/** Faults of sites, disks and clocks that a run plans by chance. They end when everything heals. */
import type { Random } from '../../server/service/collections/random.ts';
import { FULL_RETRY_MS } from '../../server/node/storage/disk/ordered-writes.ts';
import type { SimulationOptions } from './options.ts';
import type { SimulatedSite } from './simulated-site.ts';
import type { HealthyPeriods, Timeline } from './timeline.ts';

export interface PlannedFaultsOptions {
  readonly options: SimulationOptions;
  readonly timeline: Timeline;
  readonly random: Random;
  readonly healthyPeriods: HealthyPeriods;
  /** Counts the faults. */
  readonly counts: { pauses: number; fullDisks: number; clockSteps: number };
  isHealed(): boolean;
}

/**
 * A clock is set forward by less than the accepted difference of sites. With more, it would be
 * wild.
 */
const MAX_CLOCK_STEP_MS = 500;

export class PlannedFaults {
  readonly #parts: PlannedFaultsOptions;

  constructor(parts: PlannedFaultsOptions) {
    this.#parts = parts;
  }

  planForSite(site: SimulatedSite): void {
    const { options, random, counts } = this.#parts;
    const { crashEveryMs, downMeanMs, pauseEveryMs, pauseMeanMs, fullEveryMs, deposeEveryMs } =
      options;

    this.#plan(crashEveryMs, () => site.crash(random.exponential(downMeanMs)));
    this.#plan(pauseEveryMs, () => {
      counts.pauses += 1;
      site.pause(random.exponential(pauseMeanMs));
    });
    this.#plan(fullEveryMs, () => this.#fill(site));
    this.#plan(deposeEveryMs, () => site.depose());
  }

  /** Plans that one of several sites is lost for good, but not the first one. Returns that site. */
  planLoss(sites: readonly SimulatedSite[]): SimulatedSite | undefined {
    const { options, timeline, random, isHealed } = this.#parts;
    const { loseSiteAtMs, siteCount } = options;
    if (loseSiteAtMs === Infinity || siteCount < 3) return undefined;

    const site = sites[random.between(1, siteCount - 1)];
    timeline.schedule(loseSiteAtMs, () => {
      if (!isHealed()) site?.lose();
    });
    return site;
  }

  /** Plans that one clock is wild for a while, and that others are set, mostly back, and drift. */
  planClocks(wild: SimulatedSite, sites: readonly SimulatedSite[]): void {
    const { options, timeline, random } = this.#parts;
    const { wildClockAheadMs, wildClockUntilMs, maxDrift } = options;
    wild.clock.set(wildClockAheadMs);
    if (wildClockUntilMs !== Infinity) timeline.schedule(wildClockUntilMs, () => wild.clock.set(0));

    for (const site of sites) {
      if (maxDrift > 0) site.clock.setDrift((2 * random.fraction() - 1) * maxDrift);
      if (site !== wild || wildClockAheadMs === 0) this.#planClockStep(site);
    }
  }

  /** A write that did not fit is repeated only after a while. */
  makeRoom(site: SimulatedSite): void {
    site.setDiskFull(false);
    this.#parts.healthyPeriods.onDisturbed(FULL_RETRY_MS);
  }

  #planClockStep(site: SimulatedSite): void {
    const { options, random, counts } = this.#parts;
    const { clockStepEveryMs, maxClockStepBackMs } = options;
    this.#plan(clockStepEveryMs, () => {
      counts.clockSteps += 1;
      site.clock.set(random.between(-maxClockStepBackMs, MAX_CLOCK_STEP_MS));
    });
  }

  #fill(site: SimulatedSite): void {
    const { options, timeline, random, counts } = this.#parts;
    counts.fullDisks += 1;
    site.setDiskFull(true);
    timeline.schedule(random.exponential(options.fullMeanMs), () => this.makeRoom(site));
  }

  /** Plans repeated faults until everything heals. `Infinity` means never. */
  #plan(everyMs: number, run: () => void): void {
    if (everyMs === Infinity) return;
    const { timeline, random, isHealed } = this.#parts;

    timeline.schedule(random.exponential(everyMs), () => {
      if (isHealed()) return;
      run();
      this.#plan(everyMs, run);
    });
  }
}
