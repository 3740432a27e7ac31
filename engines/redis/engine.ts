/**
 * `npm run engines -- up redis`: two sites, each a Redis Cluster, with or without the wide area
 * between them.
 */
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { oneOf, type Engine, type UpOptions } from '../engine.ts';
import { forgetState, readState, runFolder, writeState } from '../folders.ts';
import { WANS } from '../wan.ts';
import { whenInterrupted } from '../when-interrupted.ts';
import { REDIS_SITES, type RedisSite } from './layout.ts';
import { readRedisVersion, REDIS_SERVERS } from './programs.ts';
import { RedisSites, type RedisKind, type RedisSitesState } from './sites.ts';

const NAME = 'redis';
const MASTERS = ['1', '3', '5'] as const;
const REPLICAS = ['0', '1'] as const;

export const redis: Engine = {
  name: NAME,
  about: 'Redis or Valkey: a cluster in Dublin, and another one in Oregon',
  options: [
    { flag: '--server <name>', about: `${REDIS_SERVERS.join(' or ')} (redis unless given)` },
    { flag: '--masters <n>', about: `Of each site: ${MASTERS.join(', ')} (3 unless given)` },
    { flag: '--replicas <n>', about: `Of each master: ${REPLICAS.join(' or ')} (1 unless given)` },
    {
      flag: '--wan <preset>',
      about: `Delays between the sites: ${WANS.join(', ')} (none unless given)`,
    },
  ],
  up,
  status,
  describe,
  down,
};

/** The sites that `up` started and that still run, if there are any. */
export function runningRedis(): RedisSites | undefined {
  const state = readState<RedisSitesState>(NAME);
  if (state === undefined) return undefined;
  const sites = new RedisSites(state);
  return state.layout.nodes.every((node) => sites.isRunning(node)) ? sites : undefined;
}

/** Sites to use, and how to be done with them. */
export interface UsedRedis {
  readonly sites: RedisSites;
  /** Stops them. */
  readonly stop: () => Promise<void>;
}

let privateSites = 0;

/** Sites for the caller alone: tests kill their servers, and leave keys behind. */
export async function useRedis(
  { server = 'redis', masters = 3, replicas = 1, wan = 'none', ...others }: Partial<RedisKind>,
  progress: (text: string) => void,
): Promise<UsedRedis> {
  privateSites += 1;
  const folder = join(runFolder(NAME), `${process.pid}-${privateSites}`);
  const sites = await RedisSites.start({
    server,
    masters,
    replicas,
    wan,
    ...others,
    folder,
    progress,
  });
  const forget = whenInterrupted(() => sites.stop());
  const stop = async (): Promise<void> => {
    forget();
    await sites.stop();
    rmSync(folder, { recursive: true, force: true });
  };
  return { sites, stop };
}

async function up(value: UpOptions, progress: (text: string) => void): Promise<void> {
  const kind = checked(value);
  const running = runningRedis();
  if (running !== undefined && isLike(running, kind)) {
    progress('runs already');
    return report(running, progress);
  }
  if (await down()) progress('stopped the one that ran with other options, or in part');
  const sites = await RedisSites.start({
    ...kind,
    folder: join(runFolder(NAME), 'sites'),
    progress,
  });
  writeState(NAME, sites.state);
  await report(sites, progress);
}

async function status(): Promise<readonly string[]> {
  const state = readState<RedisSitesState>(NAME);
  if (state === undefined) return [];
  const sites = new RedisSites(state);
  const lines = REDIS_SITES.map(async (site) => {
    const masters = await Promise.all(sites.shards.map((shard) => sites.master(site, shard)));
    const running = sites.nodes(site).filter((node) => sites.isRunning(node)).length;
    const parts = masters.map((node) =>
      node === undefined ? 'no master' : `127.0.0.1:${node.port}`,
    );
    const { wan } = state.layout;
    return `${site} ${state.server}, masters ${parts.join(' ')}, ${running} servers run, delays: ${wan}`;
  });
  return await Promise.all(lines);
}

/**
 * What a program needs that uses the sites which are up: their state, and where clients of each
 * site connect.
 */
function describe(): unknown {
  const state = readState<RedisSitesState>(NAME);
  if (state === undefined) return undefined;
  const sites = new RedisSites(state);
  const from = (site: RedisSite): object => ({
    nodes: Object.fromEntries(REDIS_SITES.map((at) => [at, sites.addresses(at, site)])),
    natMap: sites.natMap(site),
  });
  return { ...state, from: Object.fromEntries(REDIS_SITES.map((site) => [site, from(site)])) };
}

async function down(): Promise<boolean> {
  const state = readState<RedisSitesState>(NAME);
  if (state === undefined) return false;
  await new RedisSites(state).stop();
  forgetState(NAME);
  return true;
}

function checked(options: UpOptions): RedisKind {
  return {
    server: oneOf(options, 'server', { allowed: REDIS_SERVERS, unlessGiven: 'redis' }),
    masters: Number(oneOf(options, 'masters', { allowed: MASTERS, unlessGiven: '3' })),
    replicas: Number(oneOf(options, 'replicas', { allowed: REPLICAS, unlessGiven: '1' })),
    wan: oneOf(options, 'wan', { allowed: WANS, unlessGiven: 'none' }),
  };
}

function isLike(sites: RedisSites, { server, masters, replicas, wan }: RedisKind): boolean {
  const { layout, server: itsServer } = sites.state;
  const count = REDIS_SITES.length * masters * (1 + replicas);
  const isSame = layout.nodes.length === count && sites.shards.length === masters;
  return isSame && layout.wan === wan && itsServer === server;
}

async function report(sites: RedisSites, progress: (text: string) => void): Promise<void> {
  progress(`version ${await readRedisVersion(sites.state.program)}`);
  for (const line of await status()) progress(line);
  for (const site of REDIS_SITES)
    progress(`beside ${site}, connect to ${sites.addresses(site).join(',')}`);
  progress(
    'for clients at the other site, `status --json` has the addresses and the natMap of ioredis',
  );
  progress(`logs and data: ${sites.state.folder}`);
}
