/**
 * Copies of directories of sites. They are put back, or run by a second node, once the other sites
 * know more than the copy has.
 */
import type { Random } from '../../../server/service/collections/random.ts';
import { getStartNumber } from '../../../server/log/epoch.ts';
import type { DiskContent } from '../disk/disk.ts';
import type { SimulationOptions } from '../options.ts';
import type { SimulatedSite } from '../simulated-site.ts';
import type { Timeline } from '../timeline.ts';
import { countEntries, countOperations, getAcceptedStart } from './site-copies.ts';

/** A copy of the directory of a site. */
export interface CopiedDirectory {
  readonly site: SimulatedSite;
  readonly content: DiskContent;
}

interface Backup extends CopiedDirectory {
  /** The number of own operations in the copy. */
  readonly length: number;
  /** The start during which the copy was made. */
  readonly start: number;
}

/** A site that leads the log of a partition. */
export interface LogLeader {
  readonly site: SimulatedSite;
  readonly partition: number;
}

export interface CopiedDirectoriesContext {
  readonly options: SimulationOptions;
  readonly timeline: Timeline;
  readonly random: Random;
  /** All sites of the run so far. */
  readonly sites: readonly SimulatedSite[];
  isHealed(): boolean;
  /** Whether all earlier losses are repaired. */
  isSettled(): boolean;
  /** Runs a function once they are. */
  onceCalm(run: () => void): void;
  /** Returns a site that leads a log beside `main`, and not that of `main`. */
  findLeader(): LogLeader | undefined;
}

const PROBE_MS = 50;
/** How old the directory of a leader is that is put back. */
const OLD_MEAN_MS = 150;

export class CopiedDirectories {
  readonly #context: CopiedDirectoriesContext;

  constructor(context: CopiedDirectoriesContext) {
    this.#context = context;
  }

  /** Copies the directory of a site, and waits until all others know more of it than the copy. */
  onceAllKnowMore(site: SimulatedSite | undefined, run: (copied: CopiedDirectory) => void): void {
    const { options, timeline, random, isHealed, isSettled } = this.#context;
    if (site?.machine === undefined) return;
    const content = site.disk.copyContent();
    const start = site.machine.door.filter.epoch;
    const backup = {
      site,
      content,
      length: countOperations(site.origin, site.readContent(content)),
      start,
    };
    // The others may learn of a later start without an operation that the copy lacks.
    if (random.chance(0.5)) site.crash(random.exponential(options.downMeanMs));
    const look = (): void => {
      if (isHealed() || site.isLost) return;
      if (isSettled() && this.#doAllKnowMore(backup)) return run(backup);
      timeline.schedule(PROBE_MS, look);
    };
    look();
  }

  /**
   * Copies the directory of the leader of a log beside `main` until only that log shows that the
   * copy is old: all others have more of the log, and nothing more of the leader itself.
   */
  onceOnlyLogIsOld(run: (copied: CopiedDirectory) => void): void {
    const { timeline, random, onceCalm, isSettled } = this.#context;
    onceCalm(() => {
      const leader = this.#context.findLeader();
      if (leader?.site.machine === undefined) return;
      const { site } = leader;
      const { machine } = site;
      const content = site.disk.copyContent();
      timeline.schedule(random.exponential(OLD_MEAN_MS), () => {
        const isSameStart = site.machine === machine;
        if (isSettled() && isSameStart && this.#isOnlyLogOld(leader, content))
          run({ site, content });
        else this.onceOnlyLogIsOld(run);
      });
    });
  }

  #doAllKnowMore({ site, length, start }: Backup): boolean {
    const others = this.#getOthers(site);
    const hasMore = ({ machine }: SimulatedSite): boolean =>
      (machine?.blue.getHeld(site.origin).sequence ?? 0) > length;
    const knowsLaterStart = (other: SimulatedSite): boolean =>
      getStartNumber(getAcceptedStart(site.origin, other.readContent(other.disk.copyContent()))) >
      getStartNumber(start);
    return others.length > 0 && (others.every(hasMore) || others.every(knowsLaterStart));
  }

  #isOnlyLogOld({ site, partition }: LogLeader, content: DiskContent): boolean {
    const state = site.readContent(content);
    const own = countOperations(site.origin, state);
    const length = countEntries(state, partition);
    const others = this.#getOthers(site);
    return (
      others.length > 0 &&
      others.every(({ machine }) => {
        const end = machine?.redLogs.lanes.at(partition).node.end?.length ?? 0;
        const held = machine?.blue.getHeld(site.origin).sequence ?? 0;
        return end > length && held <= own;
      })
    );
  }

  #getOthers(site: SimulatedSite): readonly SimulatedSite[] {
    return this.#context.sites.filter((other) => other !== site && !other.isLost);
  }
}
