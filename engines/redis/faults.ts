/** What happens to a Redis Cluster in the field, for tests. */
import { copyFileSync } from 'node:fs';
import { join } from 'node:path';
import { waitUntil } from '../process.ts';
import { ask, readInfo } from './ask.ts';
import type { NodeLayout, RedisSite } from './layout.ts';
import type { RedisSites } from './sites.ts';

/** A shard of a site. */
export interface ShardAddress {
  readonly site: RedisSite;
  readonly shard: number;
}

const PROMOTED_MS = 30_000;
const MIGRATE_MS = 10_000;
const KEYS_AT_ONCE = 100;

/**
 * Kills the master of a shard, and waits until a replica is promoted, if there is one. Returns the
 * server that was killed.
 */
export async function killMaster(sites: RedisSites, address: ShardAddress): Promise<NodeLayout> {
  const master = await getMaster(sites, address);
  await sites.kill(master);
  await untilPromoted(sites, address);
  return master;
}

/**
 * Kills the master of a shard when its replica lacks the last writes, and waits until that one is
 * promoted.
 *
 * The replica is frozen, and its connection is closed: otherwise it would read from its socket what
 * was sent to it before.
 *
 * @param letPass resolves when enough writes have passed that will be lost
 */
export async function killWithLoss(
  sites: RedisSites,
  address: ShardAddress,
  letPass: () => Promise<void>,
): Promise<NodeLayout> {
  const master = await getMaster(sites, address);
  const replicas = getOthers(sites, address, master);
  for (const replica of replicas) sites.signal(replica, 'SIGSTOP');
  try {
    await ask(master.port, 'CLIENT', 'KILL', 'TYPE', 'replica');
    await letPass();
    await sites.kill(master);
  } finally {
    for (const replica of replicas) sites.signal(replica, 'SIGCONT');
  }
  await untilPromoted(sites, address);
  return master;
}

/** Promotes the replica of a shard without a loss, as an operator does before an update. */
export async function promote(sites: RedisSites, address: ShardAddress): Promise<void> {
  const master = await getMaster(sites, address);
  const [replica] = getOthers(sites, address, master);
  if (replica === undefined) throw new Error('promote: the shard has no replica that runs');
  await ask(replica.port, 'CLUSTER', 'FAILOVER');
  await untilPromoted(sites, address, replica);
}

/** Starts all servers of a site that do not run, empty, and waits until they have caught up. */
export async function restartAll(sites: RedisSites, site: RedisSite): Promise<void> {
  for (const node of sites.nodes(site)) if (!sites.isRunning(node)) sites.launch(node);
  await sites.untilServing(site);
}

/** Saves the data of a shard. Returns the file, for `restartFromCopy`. */
export async function saveCopy(sites: RedisSites, address: ShardAddress): Promise<string> {
  const master = await getMaster(sites, address);
  const file = join(sites.state.folder, `${address.site}-${address.shard}.rdb`);
  await ask(master.port, 'SAVE');
  copyFileSync(join(sites.dataFolder(master), 'dump.rdb'), file);
  return file;
}

/**
 * Kills all servers of a shard and starts them on older data; without `copy` they are empty, as
 * after a lost disk.
 */
export async function restartFromCopy(
  sites: RedisSites,
  address: ShardAddress,
  copy?: string,
): Promise<void> {
  const master = await getMaster(sites, address);
  const replicas = getOthers(sites, address, master);
  // No replica may be promoted, nor serve as the source of newer data.
  await Promise.all([...replicas, master].map((node) => sites.kill(node)));
  sites.launch(master, copy);
  for (const replica of replicas) sites.launch(replica);
  await sites.untilServing(address.site);
}

/** Deletes all data of a shard. */
export async function flushAll(sites: RedisSites, address: ShardAddress): Promise<void> {
  const master = await getMaster(sites, address);
  await ask(master.port, 'FLUSHALL');
}

/** Makes the servers of a site forget all scripts. */
export async function flushScripts(sites: RedisSites, site: RedisSite): Promise<void> {
  const nodes = sites.nodes(site).filter((node) => sites.isRunning(node));
  await Promise.all(nodes.map(({ port }) => ask(port, 'SCRIPT', 'FLUSH')));
}

/** Returns the slot of a key, as of `{shop:3}`. */
export async function findSlot(sites: RedisSites, key: string): Promise<number> {
  const { port } = await getMaster(sites, { site: 'dublin', shard: 0 });
  return Number(await ask(port, 'CLUSTER', 'KEYSLOT', key));
}

/** Returns which shard of a site owns a slot. */
export async function findShard(sites: RedisSites, site: RedisSite, slot: number): Promise<number> {
  const masters = await getMasters(sites, site);
  return (await findOwner(masters[0] as NodeLayout, slot, masters)).shard;
}

/**
 * Moves a slot to another shard with all its keys, while clients use it. Does nothing if it is
 * there already.
 */
export async function moveSlot(
  sites: RedisSites,
  slot: number,
  { site, shard }: ShardAddress,
): Promise<void> {
  const masters = await getMasters(sites, site);
  const target = masters[sites.shards.indexOf(shard)] as NodeLayout;
  const source = await findOwner(target, slot, masters);
  if (source === target) return;
  await ask(target.port, 'CLUSTER', 'SETSLOT', slot, 'IMPORTING', source.id);
  await ask(source.port, 'CLUSTER', 'SETSLOT', slot, 'MIGRATING', target.id);
  for (;;) {
    const keys = (await ask(
      source.port,
      'CLUSTER',
      'GETKEYSINSLOT',
      slot,
      KEYS_AT_ONCE,
    )) as string[];
    if (keys.length === 0) break;
    await ask(source.port, 'MIGRATE', '127.0.0.1', target.port, '', 0, MIGRATE_MS, 'KEYS', ...keys);
  }
  // The target first: if the source let go before, nobody would own the slot.
  const others = masters.filter((node) => node !== target && node !== source);
  for (const node of [target, source, ...others])
    await ask(node.port, 'CLUSTER', 'SETSLOT', slot, 'NODE', target.id);
}

type SlotRange = readonly [first: number, last: number, master: readonly [string, number, string]];

async function findOwner(
  { port }: NodeLayout,
  slot: number,
  masters: readonly NodeLayout[],
): Promise<NodeLayout> {
  const ranges = (await ask(port, 'CLUSTER', 'SLOTS')) as readonly SlotRange[];
  const range = ranges.find(([first, last]) => first <= slot && slot <= last);
  const owner = masters.find(({ id }) => id === range?.[2][2]);
  if (owner === undefined) throw new Error(`moveSlot: no master owns slot ${slot}`);
  return owner;
}

function getMasters(sites: RedisSites, site: RedisSite): Promise<readonly NodeLayout[]> {
  return Promise.all(sites.shards.map((shard) => getMaster(sites, { site, shard })));
}

async function getMaster(sites: RedisSites, { site, shard }: ShardAddress): Promise<NodeLayout> {
  const master = await sites.master(site, shard);
  if (master === undefined) throw new Error(`shard ${shard} of ${site} has no master that answers`);
  return master;
}

function getOthers(
  sites: RedisSites,
  { site, shard }: ShardAddress,
  master: NodeLayout,
): readonly NodeLayout[] {
  return sites.nodes(site, shard).filter((node) => node !== master && sites.isRunning(node));
}

/**
 * Waits until a shard has a master that all masters of the site know. Without a running server, it
 * returns at once.
 */
async function untilPromoted(
  sites: RedisSites,
  { site, shard }: ShardAddress,
  expected?: NodeLayout,
): Promise<void> {
  if (!sites.nodes(site, shard).some((node) => sites.isRunning(node))) return;
  const isPromoted = async (): Promise<boolean> => {
    const master = await sites.master(site, shard);
    if (master === undefined || (expected !== undefined && master !== expected)) return false;
    return (await readInfo(master.port, 'cluster', 'cluster_state')) === 'ok';
  };
  if (await waitUntil(isPromoted, PROMOTED_MS)) return;
  throw new Error(
    `no replica of shard ${shard} of ${site} was promoted; see the logs in ${sites.state.folder}`,
  );
}
