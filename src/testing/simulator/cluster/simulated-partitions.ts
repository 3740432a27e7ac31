/** The partitions of a run: how many there are, and who leads and confirms the red log of each. */
import { Random } from '../../../server/service/collections/random.ts';
import type { Origin, Origins } from '../../../server/service/records/origin.ts';
import { createPartitions, type Partitions } from '../../../server/service/partitions.ts';
import type { Service } from '../../../server/service/service.ts';
import type { RedLogPlace, SiteOptions } from '../../../server/site/site-options.ts';
import { isRed, type AnyOperation } from '../checkers/checker.ts';
import type { SimulationOptions } from '../options.ts';
import { createOrigins } from '../replica-limits.ts';

/** The names of the partitions beside `main` that a run may have. */
export const PARTITION_NAMES = ['p1', 'p2', 'p3'] as const;

const APPLIED = 'red applied beside main';

export interface SimulatedPartitions {
  /** Creates the table of origins with which each start begins. */
  createOrigins(): Origins;
  readonly partitions: Partitions;
  /** What happened in a run that may have several. */
  readonly counts: Readonly<Record<string, number>>;
  /** An operation was applied at a site. */
  count(operation: AnyOperation): void;
  /** Returns the options of a site, from the origins of the first sites. */
  createOptions(origins: Origins): Pick<SiteOptions, 'partitions' | 'redLogs'>;
  /** Returns the leaders of all red logs, from the place of that of `main`. */
  findLeaders(origins: Origins, mainLeader: number): readonly Origin[];
}

/**
 * Draws the partitions. It uses a generator of its own, so that other draws stay the same for a
 * seed.
 */
export function drawPartitions(
  seed: number,
  service: Service,
  options: SimulationOptions,
): SimulatedPartitions {
  const random = new Random(seed ^ 0x1065);
  const { maxLogs: most, siteCount } = options;
  const count = most === 1 ? 0 : random.between(0, most - 1);
  const names = PARTITION_NAMES.slice(0, count);
  const partitions = createPartitions(service, Object.fromEntries(names.map((name) => [name, {}])));
  const counts: Record<string, number> =
    most === 1 ? {} : { [APPLIED]: 0, 'red logs beside main': count };
  const placeSeeds = names.map(() => random.between(0, 1e9));
  const createOptions: SimulatedPartitions['createOptions'] = (origins) =>
    most === 1
      ? {}
      : {
          partitions,
          redLogs: placeSeeds.map((placeSeed) =>
            drawPlace(new Random(placeSeed), origins, options),
          ),
        };
  return {
    createOrigins: () => createOrigins(siteCount, names),
    partitions,
    counts,
    count: (operation) => {
      if (isRed(operation) && operation.partition !== undefined)
        counts[APPLIED] = (counts[APPLIED] ?? 0) + 1;
    },
    createOptions,
    findLeaders: (origins, mainLeader) => {
      const { redLogs = [] } = createOptions(origins);
      const leader = origins.sites[mainLeader] as Origin;
      return [leader, ...redLogs.map((log) => log.leader)];
    },
  };
}

/** A site that is lost for good neither leads nor is one of few voters. */
function drawPlace(
  random: Random,
  origins: Origins,
  { loseSiteAtMs, isCluster, hasFewVoters }: SimulationOptions,
): RedLogPlace {
  const { sites } = origins;
  const [first = 1 as Origin] = sites;
  if (loseSiteAtMs !== Infinity) return { leader: first };
  // In a cluster a leader cannot leave, so the other sites lead nothing.
  const last = isCluster ? 1 : sites.length - 1;
  const leader = sites[random.between(0, last)] ?? first;
  if (sites.length < 3) return { leader };
  if (!hasFewVoters && random.chance(0.5)) return { leader };
  const others = sites.filter((site) => site !== leader);
  const second = others[random.between(0, others.length - 1)] ?? first;
  const voters = sites.filter(
    (site) => site === leader || site === second || (!hasFewVoters && random.chance(0.3)),
  );
  // Otherwise the loss of one voter stops the log until it is rebuilt.
  if (isCluster && !hasFewVoters && voters.length < 3) return { leader };
  return { leader, voters: voters.map((site) => origins.getName(site)) };
}
