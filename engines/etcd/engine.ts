/** `npm run engines -- up etcd`: one cluster, with or without the wide area between its servers. */
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { oneOf, type Engine, type UpOptions } from '../engine.ts';
import { forgetState, readState, runFolder, writeState } from '../folders.ts';
import { UsageError } from '../usage-error.ts';
import { SITES, WANS } from '../wan.ts';
import { whenInterrupted } from '../when-interrupted.ts';
import { EtcdCluster, type EtcdClusterState, type EtcdKind } from './cluster.ts';

const NAME = 'etcd';
/** The login of clients with `--auth`. */
const USER = { name: 'root', password: 'correctables' };

export const etcd: Engine = {
  name: NAME,
  about: 'etcd: servers in Ireland, Frankfurt and Virginia',
  options: [
    { flag: '--nodes <n>', about: '3 (default) or 1' },
    {
      flag: '--wan <preset>',
      about: `Delays between the sites, clients included: ${WANS.join(', ')} (none unless given)`,
    },
    { flag: '--tls', about: 'Clients need TLS, and a certificate' },
    { flag: '--auth', about: `Clients log in as ${USER.name}, with the password ${USER.password}` },
  ],
  up,
  status,
  describe,
  down,
};

/** The cluster that `up` started and that still runs, if there is one. */
export function runningEtcd(): EtcdCluster | undefined {
  const state = readState<EtcdClusterState>(NAME);
  if (state === undefined) return undefined;
  const cluster = new EtcdCluster(state);
  return cluster.sites.every((site) => cluster.isRunning(site)) ? cluster : undefined;
}

/** A cluster to use, and how to be done with it. */
export interface UsedEtcd {
  readonly cluster: EtcdCluster;
  /** Stops it. */
  readonly stop: () => Promise<void>;
}

let privateClusters = 0;

/** A cluster for the caller alone: who uses etcd kills its servers, and leaves keys behind. */
export async function useEtcd(
  { nodes = 3, wan = 'none', ...others }: Partial<EtcdKind>,
  progress: (text: string) => void,
): Promise<UsedEtcd> {
  privateClusters += 1;
  const folder = join(runFolder(NAME), `${process.pid}-${privateClusters}`);
  const cluster = await EtcdCluster.start({ nodes, wan, ...others, folder, progress });
  const forget = whenInterrupted(() => cluster.stop());
  const stop = async (): Promise<void> => {
    forget();
    await cluster.stop();
    rmSync(folder, { recursive: true, force: true });
  };
  return { cluster, stop };
}

async function up(value: UpOptions, progress: (text: string) => void): Promise<void> {
  const kind = checked(value);
  const running = runningEtcd();
  if (running !== undefined && isLike(running, kind)) {
    progress('runs already');
    return report(running, progress);
  }
  if (await down()) progress('stopped the one that ran with other options, or in part');
  const cluster = await EtcdCluster.start({
    ...kind,
    folder: join(runFolder(NAME), 'cluster'),
    progress,
  });
  writeState(NAME, cluster.state);
  await report(cluster, progress);
}

async function status(): Promise<readonly string[]> {
  const state = readState<EtcdClusterState>(NAME);
  if (state === undefined) return [];
  const cluster = new EtcdCluster(state);
  const roles = await cluster.roles();
  return cluster.sites.map((site) => {
    const role = roles[site] ?? (cluster.isRunning(site) ? 'not serving' : 'down');
    return `${site} ${cluster.endpoint(site)} ${role}, delays: ${state.layout.wan}`;
  });
}

/**
 * What a program needs that uses the cluster which is up: its state, and where clients of each site
 * connect.
 */
function describe(): unknown {
  const state = readState<EtcdClusterState>(NAME);
  if (state === undefined) return undefined;
  const cluster = new EtcdCluster(state);
  return {
    ...state,
    endpoints: Object.fromEntries(SITES.map((site) => [site, cluster.endpoints(site)])),
  };
}

async function down(): Promise<boolean> {
  const state = readState<EtcdClusterState>(NAME);
  if (state === undefined) return false;
  await new EtcdCluster(state).stop();
  forgetState(NAME);
  return true;
}

function checked(options: UpOptions): EtcdKind {
  const nodes = Number(oneOf(options, 'nodes', { allowed: ['1', '3'], unlessGiven: '3' }));
  const wan = oneOf(options, 'wan', { allowed: WANS, unlessGiven: 'none' });
  if (nodes === 1 && wan !== 'none')
    throw new UsageError('--wan needs several servers: leave out --nodes 1');
  const tls = options['tls'] === true;
  return { nodes: nodes === 1 ? 1 : 3, wan, tls, ...(options['auth'] === true && { user: USER }) };
}

function isLike(cluster: EtcdCluster, { nodes, wan, tls = false, user }: EtcdKind): boolean {
  const { layout, tls: files, user: itsUser } = cluster.state;
  const isSame = layout.members.length === nodes && layout.wan === wan;
  return isSame && tls === (files !== undefined) && user?.name === itsUser?.name;
}

async function report(cluster: EtcdCluster, progress: (text: string) => void): Promise<void> {
  for (const line of await status()) progress(line);
  for (const site of cluster.sites)
    progress(`beside ${site}, connect to ${cluster.endpoints(site).join(',')}`);
  const { tls, user, folder } = cluster.state;
  if (tls !== undefined)
    progress(`trust ${tls.ca}, show ${tls.certificate} with the key ${tls.key}`);
  if (user !== undefined) progress(`log in as ${user.name} with the password ${user.password}`);
  progress(`logs and data: ${folder}`);
}
