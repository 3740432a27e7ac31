/** Opens both stores of comments on a Redis Cluster at each site. */
import type { Binding } from 'correctables';
import {
  causalRedis,
  createCausalDeployment,
  type CausalRedisAlarm,
} from 'correctables/bindings/causal-redis';
import { tiered } from 'correctables/bindings/tiered';
import type { Cluster } from 'ioredis';
import type { CommentStores } from './comment-stores.ts';
import { COPY_LEVELS, type CopyArgs, type CopyLevels } from './plain-copies.ts';
import { RedisNetwork } from './redis-network.ts';
import { LINE, SITES, type Delays, type Site } from './sites.ts';

const NAME = 'comments';
const PARTITIONS = 8;
/**
 * The prefix of the keys of plain copies, which are in the same cluster as those of the causal
 * store.
 */
const COPY_PREFIX = 'copies:';

type Connections = Readonly<Record<Site, Cluster>>;

/** @throws EngineUnavailable if Redis is not installed and cannot be downloaded */
export async function openRedisStores(delays: Delays): Promise<CommentStores> {
  const network = await RedisNetwork.start(delays);
  try {
    const connectAll = (from: Site): Connections =>
      Object.fromEntries(SITES.map((to) => [to, network.connect(from, to)])) as Connections;
    const connections = new Map(SITES.map((site) => [site, connectAll(site)]));
    const getSites = (site: Site): Connections => connections.get(site) as Connections;
    const copies = new Map(SITES.map((site) => [site, openCopies(site, connectAll(site))]));
    await network.waitUntilConnected();
    for (const site of SITES) {
      await createCausalDeployment({
        name: NAME,
        site,
        sites: getSites(site),
        partitions: PARTITIONS,
      });
    }
    const causal = new Map(
      SITES.map((site) => [
        site,
        causalRedis({ name: NAME, site, sites: getSites(site), onAlarm: reportAlarm }),
      ]),
    );
    network.beginDelays();
    return {
      causal: (site) => causal.get(site) as ReturnType<typeof causalRedis>,
      copies: (site) => copies.get(site) as Binding<CopyLevels>,
      cutLine: async () => network.cut(...LINE),
      repairLine: async () => network.repair(...LINE),
      close: async () => {
        await Promise.all([...causal.values()].map((binding) => binding.close()));
        await network.close();
      },
    };
  } catch (error) {
    await network.close();
    throw error;
  }
}

/**
 * Reports alarms, except those about missing persistence, which every server of a demo would cause.
 */
function reportAlarm({ code, site, message }: CausalRedisAlarm): void {
  if (code !== 'persistence') console.error(`demo:news: ${site}: ${message}`);
}

/**
 * The same as `PlainCopies`, with `SET` and `GET`: each write is sent to the cluster of each other
 * site by itself.
 */
function openCopies(site: Site, connections: Connections): Binding<CopyLevels> {
  return tiered(COPY_LEVELS, {
    copy: async ({ name, args }) => {
      const { key, keys, value } = args as CopyArgs;
      const near = connections[site];
      // The keys are on several masters, so no single command reads them all.
      if (name === 'getMany')
        return await Promise.all(
          keys.map(async (item) => fromText(await near.get(toCopyKey(item)))),
        );
      if (name === 'get') return fromText(await near.get(toCopyKey(key)));
      const text = JSON.stringify(value);
      await near.set(toCopyKey(key), text);
      for (const other of SITES) {
        if (other !== site) connections[other].set(toCopyKey(key), text).catch(() => {}); // Send the write to the other copies without waiting.
      }
      return undefined;
    },
  });
}

function toCopyKey(key: string): string {
  return `${COPY_PREFIX}${key}`;
}

function fromText(text: string | null): unknown {
  return text === null ? undefined : JSON.parse(text);
}
