/**
 * Measures the load of a causal store on its Redis: the server's time of a put and of a read,
 * beside `SET` and `GET` in the same rounds. Two sites with all their background work, values of
 * 100 bytes.
 */
import { Redis } from 'ioredis';
import { createClient, type Client } from 'correctables';
import {
  causalRedis,
  createCausalDeployment,
  type CausalLevels,
} from 'correctables/bindings/causal-redis';
import { get, getMany, put } from 'correctables/operations';
import {
  findRedisProgram,
  readRedisVersion,
  type RedisServerName,
} from '../../engines/redis/programs.ts';
import { startRedis, type RunningRedis } from '../../engines/redis/single-server.ts';
import { UsageError } from '../../engines/usage-error.ts';
import type { Bench, Outcome, Settings } from '../harness/bench.ts';
import { estimate, limitTime, reported, type GoalResult } from '../harness/goals.ts';
import { versionsOf } from '../harness/provenance.ts';
import { mean, median, rounded } from '../harness/statistics.ts';
import { isCallOf, logAllCalls, recordCalls } from './server-times.ts';

export const causalRedisCost: Bench = {
  name: 'causal-redis',
  about:
    'the server time of a put and a read of a causal store on Redis or Valkey, beside SET and GET',
  takes: ['binding'],
  run,
};

const SITES = ['dublin', 'oregon'] as const;
const NAME = 'bench';
const PARTITIONS = 8;
const KEYS = 2_000;
const MANY = 8;
const GROUPS = 250;
const IN_FLIGHT = 16;
/** Read only at `causal`: a read at `latest` would add calls at both sites. */
const CAUSAL = { levels: ['causal'] } as const;
const VALUE = 'v'.repeat(98); // 100 bytes as JSON.

interface Contender {
  readonly name: string;
  /** The command or the call of the store that is measured. */
  readonly operation: string;
  readonly keyCount: number;
  run(index: number): PromiseLike<unknown>;
}

interface RoundTimes {
  readonly calls: number;
  readonly p50Us: number;
  readonly meanUs: number;
}

async function run(settings: Settings): Promise<Outcome> {
  const server = readServer(settings);
  const [rounds, callsPerRound] = settings.quick ? [3, 300] : [25, 2_000];
  const times = await measure(server, { rounds, callsPerRound, settings });
  const version = await readRedisVersion(await findRedisProgram(server));
  return {
    name: server === 'redis' ? 'causal-redis' : 'causal-redis-valkey',
    rounds,
    rows: [...times].map(([name, list]) => ({
      name,
      p50Us: rounded(median(list.map(({ p50Us }) => p50Us))),
      meanUs: rounded(median(list.map(({ meanUs }) => meanUs))),
      calls: list.reduce((sum, { calls }) => sum + calls, 0),
    })),
    bars: computeBars(times),
    versions: { ...versionsOf('ioredis'), [server]: version },
    samples: Object.fromEntries(times),
  };
}

function readServer({ binding = 'redis' }: Settings): RedisServerName {
  if (binding === 'redis' || binding === 'valkey') return binding;
  throw new UsageError(`--binding must be redis or valkey, got "${binding}"`);
}

interface Plan {
  readonly rounds: number;
  readonly callsPerRound: number;
  readonly settings: Settings;
}

async function measure(
  server: RedisServerName,
  { rounds, callsPerRound, settings }: Plan,
): Promise<ReadonlyMap<string, readonly RoundTimes[]>> {
  const times = new Map<string, RoundTimes[]>();
  await withStore(server, async (near, contenders) => {
    for (let round = 0; round <= rounds; round += 1) {
      for (const contender of contenders) {
        const result = await measureRound(near, contender, callsPerRound);
        // Do not count the first round, which fills the keys.
        if (round > 0) times.set(contender.name, [...(times.get(contender.name) ?? []), result]);
      }
      settings.progress(`round ${round} of ${rounds}`);
    }
  });
  return times;
}

async function measureRound(near: Redis, contender: Contender, count: number): Promise<RoundTimes> {
  const { operation, keyCount } = contender;
  const calls = await recordCalls(near, () =>
    runConcurrently(count, (index) => contender.run(index)),
  );
  const own = calls.filter((call) => isCallOf(operation, keyCount, call)).map(({ us }) => us);
  return { calls: own.length, p50Us: median(own), meanUs: mean(own) };
}

async function runConcurrently(
  count: number,
  start: (index: number) => PromiseLike<unknown>,
): Promise<void> {
  let next = 0;
  const lane = async (): Promise<void> => {
    while (next < count) await start(next++);
  };
  await Promise.all(Array.from({ length: IN_FLIGHT }, lane));
}

/** Runs `run` with both sites open, and with a connection to the first one. */
async function withStore(
  server: RedisServerName,
  use: (near: Redis, contenders: readonly Contender[]) => Promise<void>,
): Promise<void> {
  const open: { stop(): Promise<unknown> }[] = [];
  try {
    const connections = new Map<string, Redis>();
    for (const site of SITES) {
      const running: RunningRedis = await startRedis({ server, durable: false });
      open.push(running);
      const redis = new Redis(running.url, { enableAutoPipelining: true });
      open.push({ stop: async () => redis.disconnect() });
      connections.set(site, redis);
    }
    const sites = Object.fromEntries(connections) as Record<(typeof SITES)[number], Redis>;
    for (const site of SITES)
      await createCausalDeployment({ name: NAME, site, sites, partitions: PARTITIONS });
    const clients = SITES.map((site) =>
      createClient(causalRedis({ name: NAME, site, sites, onAlarm: () => {} })),
    );
    for (const client of clients) open.push({ stop: () => client.close() });
    const [client] = clients as [(typeof clients)[number]];
    await fillGroups(client);
    await logAllCalls(sites.dublin);
    await use(sites.dublin, createContenders(client, sites.dublin));
  } finally {
    for (const item of open.toReversed()) await item.stop();
  }
}

/** Returns keys of one partition, which the part in braces determines. */
function toKeys(index: number): string[] {
  return Array.from({ length: MANY }, (_, at) => `{${index % GROUPS}}:${at}`);
}

async function fillGroups(client: Client<CausalLevels>): Promise<void> {
  await runConcurrently(GROUPS * MANY, (index) => {
    const key = toKeys(Math.floor(index / MANY))[index % MANY] as string;
    return client.invoke(put(key, VALUE));
  });
}

function createContenders(client: Client<CausalLevels>, redis: Redis): readonly Contender[] {
  const toKey = (index: number): string => `key:${(index * 7_919) % KEYS}`;
  const single = { keyCount: 1 };
  return [
    { ...single, name: 'SET', operation: 'set', run: (index) => redis.set(toKey(index), VALUE) },
    { ...single, name: 'GET', operation: 'get', run: (index) => redis.get(toKey(index)) },
    {
      ...single,
      name: 'put',
      operation: 'put',
      run: (index) => client.invoke(put(toKey(index), VALUE)),
    },
    {
      ...single,
      name: 'get',
      operation: 'read',
      run: (index) => client.invoke(get(toKey(index)), CAUSAL),
    },
    {
      name: `getMany of ${MANY}`,
      operation: 'read',
      keyCount: MANY,
      run: (index) => client.invoke(getMany(toKeys(index)), CAUSAL),
    },
  ];
}

function computeBars(times: ReadonlyMap<string, readonly RoundTimes[]>): readonly GoalResult[] {
  const medians = (name: string): number[] => (times.get(name) ?? []).map(({ p50Us }) => p50Us);
  return [
    limitTime('put', estimate(medians('put')), { aim: 35 }, 'us'),
    limitTime('get', estimate(medians('get')), { aim: 15 }, 'us'),
    reported('getMany', estimate(medians(`getMany of ${MANY}`)), 'us'),
    reported('SET', estimate(medians('SET')), 'us'),
    reported('GET', estimate(medians('GET')), 'us'),
  ];
}
