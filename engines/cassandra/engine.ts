/**
 * `npm run engines -- up cassandra`: one cluster, with or without the wide area between its nodes.
 */
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { oneOf, type Engine, type UpOptions } from '../engine.ts';
import { UsageError } from '../usage-error.ts';
import { forgetState, readState, runFolder, writeState } from '../folders.ts';
import { PLACEMENTS, WANS } from '../wan.ts';
import { whenInterrupted } from '../when-interrupted.ts';
import { Cluster, type ClusterOptions, type ClusterState, type NodeHealth } from './cluster.ts';
import { privateRun, stopLeftovers, stopRun } from './leftovers.ts';
import { clientPlaces, NETWORK_MAX, whatIsTakenIn } from './layout.ts';

const NAME = 'cassandra';

/** What two clusters have to agree in so that one can take the place of the other. */
type Kind = Required<Pick<ClusterOptions, 'nodes' | 'wan' | 'placement'>> &
  Pick<ClusterOptions, 'plugin' | 'network'>;

export const cassandra: Engine = {
  name: NAME,
  about: 'Apache Cassandra: nodes in Frankfurt, Ireland and Virginia',
  options: [
    { flag: '--nodes <n>', about: '3 (default) or 1' },
    {
      flag: '--wan <preset>',
      about: `Delays between the sites, clients included: ${WANS.join(', ')} (none unless given)`,
    },
    {
      flag: '--placement <name>',
      about:
        'paper (unless given), or twissandra: nodes in Virginia, Northern California and Oregon',
    },
    { flag: '--plugin', about: 'Nodes that give preliminary views of their own' },
    {
      flag: '--network <n>',
      about: `Listen on 127.0.N.*, N up to ${NETWORK_MAX} (0 if it is free, otherwise another)`,
    },
  ],
  up,
  status,
  describe,
  down,
};

/** The cluster that `up` started and that still runs, if there is one. */
export function runningCluster(): Cluster | undefined {
  const state = readState<ClusterState>(NAME);
  if (state === undefined) return undefined;
  const cluster = new Cluster(state);
  return cluster.sites.every((site) => cluster.isRunning(site)) ? cluster : undefined;
}

/** A cluster to use, and how to be done with it. */
export interface UsedCluster {
  readonly cluster: Cluster;
  /** Stops it if it was started for us. */
  readonly stop: () => Promise<void>;
}

let privateClusters = 0;

/**
 * The cluster of `up` if it is of this kind; otherwise one for the caller alone. Where `plugin` is
 * not said, either will do.
 */
export async function useCluster(
  {
    nodes = 3,
    wan = 'none',
    placement = 'paper',
    plugin,
    ...others
  }: Partial<Omit<ClusterOptions, 'folder' | 'progress'>>,
  progress: (text: string) => void,
): Promise<UsedCluster> {
  const kind: Kind = { nodes, wan, placement, ...(plugin !== undefined && { plugin }) };
  const running = runningCluster();
  if (running !== undefined && Object.keys(others).length === 0 && isLike(running, kind)) {
    progress(`using the Cassandra cluster that runs (delays: ${wan})`);
    return { cluster: running, stop: async () => {} };
  }
  await stopLeftovers();
  privateClusters += 1;
  const run = privateRun(String(privateClusters));
  const forget = whenInterrupted(() => stopRun(run));
  const cluster = await Cluster.start({
    ...kind,
    ...others,
    folder: join(runFolder(run), 'cluster'),
    progress,
    onChange: (state) => writeState(run, state), // For `stopLeftovers`, should this program be killed.
  }).catch((error: unknown) => {
    forget();
    throw error;
  });
  const stop = async (): Promise<void> => {
    forget();
    await cluster.stop();
    rmSync(runFolder(run), { recursive: true, force: true });
  };
  return { cluster, stop };
}

async function up(options: UpOptions, progress: (text: string) => void): Promise<void> {
  const kind = checked(options);
  const running = runningCluster();
  if (running !== undefined && isLike(running, kind)) {
    progress('runs already');
    return report(running, progress);
  }
  await stopLeftovers();
  if (await stopUp()) progress('stopped the one that ran with other options, or in part');
  const isPreferredFree =
    kind.network === undefined && (await whatIsTakenIn(0, kind)) === undefined;
  const network = isPreferredFree ? { network: 0 } : {};
  const cluster = await Cluster.start({
    ...kind,
    ...network,
    folder: join(runFolder(NAME), 'cluster'),
    progress,
    // So `down` finds whatever runs, also if starting was broken off.
    onChange: (state) => writeState(NAME, state),
  }).catch((error: unknown) => {
    forgetState(NAME);
    throw error;
  });
  await report(cluster, progress);
}

async function status(): Promise<readonly string[]> {
  const state = readState<ClusterState>(NAME);
  if (state === undefined) return [];
  const cluster = new Cluster(state);
  const health = await cluster.health();
  const { layout, plugin } = state;
  return cluster.nodes.map(({ site, dataCenter, jmxPort }) => {
    const kind = plugin === undefined ? '' : ', preliminary views';
    const how = inWords(health[site] ?? 'down', cluster.nodes.length);
    return `${site} (${dataCenter}) ${cluster.address(site)} ${how}, delays: ${layout.wan}${kind}, JMX port ${jmxPort}`;
  });
}

/**
 * What a program needs that uses the cluster which is up: its state, and where clients of each site
 * connect.
 */
function describe(): unknown {
  const state = readState<ClusterState>(NAME);
  if (state === undefined) return undefined;
  const cluster = new Cluster(state);
  const places = clientPlaces(state.layout);
  const contactPoints = Object.fromEntries(
    places.map((place) => [place, cluster.contactPoints(place)]),
  );
  return { ...state, contactPoints };
}

async function down(): Promise<boolean> {
  const hadLeftovers = await stopLeftovers();
  return (await stopUp()) || hadLeftovers;
}

async function stopUp(): Promise<boolean> {
  const state = readState<ClusterState>(NAME);
  if (state === undefined) return false;
  await new Cluster(state).stop();
  forgetState(NAME);
  return true;
}

function checked(options: UpOptions): Kind {
  const nodes = Number(oneOf(options, 'nodes', { allowed: ['1', '3'], unlessGiven: '3' }));
  const wan = oneOf(options, 'wan', { allowed: WANS, unlessGiven: 'none' });
  const placement = oneOf(options, 'placement', { allowed: PLACEMENTS, unlessGiven: 'paper' });
  const network = options['network'] === undefined ? undefined : Number(options['network']);
  if (
    network !== undefined &&
    !(Number.isInteger(network) && network >= 0 && network <= NETWORK_MAX)
  ) {
    throw new UsageError(
      `--network takes a whole number from 0 to ${NETWORK_MAX}, not "${String(options['network'])}"`,
    );
  }
  const plugin = options['plugin'] === true;
  return {
    nodes: nodes === 1 ? 1 : 3,
    wan,
    placement,
    plugin,
    ...(network !== undefined && { network }),
  };
}

function isLike(cluster: Cluster, { nodes, wan, placement, plugin, network }: Kind): boolean {
  const { layout, plugin: its } = cluster.state;
  const isSame =
    layout.nodes.length === nodes && layout.wan === wan && layout.placement === placement;
  return (
    isSame &&
    (network ?? layout.network) === layout.network &&
    (plugin === undefined || plugin === (its !== undefined))
  );
}

function inWords(health: NodeHealth, count: number): string {
  return typeof health === 'string' ? health : `serves, reaches ${health.inReach} of ${count}`;
}

async function report(cluster: Cluster, progress: (text: string) => void): Promise<void> {
  for (const line of await status()) progress(line);
  for (const site of cluster.sites)
    progress(`beside ${site}, connect to ${cluster.contactPoints(site).join(',')}`);
  progress(`logs and data: ${cluster.state.folder}`);
}
