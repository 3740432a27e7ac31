/**
 * The scripts of a partition beside the pure form, on real servers: equal answers, and equal state.
 */
import { Redis } from 'ioredis';
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { startRedis, type RunningRedis } from '../../../engines/redis/single-server.ts';
import { reasonToSkip } from '../support/missing-tools.ts';
import type { ScriptConnection } from '../../../src/bindings/causal-redis/driver.ts';
import { createRedisPartitionPort } from '../../../src/bindings/causal-redis/redis-partition-port.ts';
import { DEFAULT_LIMITS, type CausalLimits } from '../../../src/causal/limits.ts';
import type {
  CallName,
  PartitionCalls,
  PutReply,
  PutRequest,
  ScanReply,
} from '../../../src/causal/partition-calls.ts';
import type { Stamp } from '../../../src/causal/stamps.ts';
import { ModelRun } from '../support/partition-model/run-model.ts';

/** REDIS_MODEL_RUNS=10000 for many lists, and REDIS_MODEL_SEED for the first of them. */
const RUNS = Number(process.env['REDIS_MODEL_RUNS'] ?? 300);
const SEED = Number(process.env['REDIS_MODEL_SEED'] ?? 1);
const START_MS = 300_000;
/** Busy machines are slow: this ends what hangs. */
const RUN_MS = 60_000 + 1_000 * RUNS;

/** A refusal comes as a reply too, so that a test can expect it. */
type CallPort = <N extends CallName>(
  name: N,
  request: PartitionCalls[N]['request'],
) => Promise<PartitionCalls[N]['reply']>;

/** Each leaves out a rule, or loses digits. Constants are numbers in the scripts. */
const PLANTED_FAULTS: readonly (readonly [
  name: string,
  part: string | RegExp,
  replacement: string,
])[] = [
  [
    'a stamp through tostring',
    "struct.pack('>d', stamp)",
    "struct.pack('>d', tonumber(tostring(stamp)))",
  ],
  ['a clock that a read leaves (R4)', /if snapshot\[\d\] > clock then/, 'if false then'],
  ['a limit of bytes that is ignored (R6)', /or bytes >= \d+/, ''],
  ['a gap that is not noticed (R7)', 'return -1', 'return 0'],
  [
    'a gap that lets every snapshot pass (R7)',
    'return newer .. packGap(passableUpTo) .. older',
    'return chain',
  ],
  [
    'a promise above an entry that stays behind (R10)',
    /if last < state\[\d+\] then promise = cursorStamp end/,
    '',
  ],
  [
    'a poll that confirms what it did not know (R10)',
    /math\.min\((math\.max\(state\[\d\], now\)), siteTime\)/,
    '$1',
  ],
  ['a cursor that is not checked (R11)', 'if not isCursorAt', 'if false and not isCursorAt'],
  [
    'a lost entry that is not noticed (R13)',
    'if isLost and not isSuspect(state) then',
    'if false then',
  ],
  [
    'a heal that ends after another loss (R14)',
    /if state\[\d\] < suspicions then return 2 end/,
    '',
  ],
  [
    'an entry that is dropped too early (R16)',
    'acknowledged - 1, first +',
    'acknowledged, first +',
  ],
  ['a repeated write that counts as a new one (R17)', 'if found[3] then', 'if false then'],
  ['a tombstone that is dropped too early (R18)', 'and isReceivedFromAll(state, stamp)', ''],
];
const FAULT_RUNS = 300;

describe.each(['redis', 'valkey'] as const)('%s', (server) => {
  let running: RunningRedis | undefined;
  let redis: Redis;
  let missing: string | undefined;

  beforeAll(async () => {
    try {
      running = await startRedis({ server, durable: false });
      redis = new Redis(running.url);
    } catch (error) {
      missing = reasonToSkip(error);
    }
  }, START_MS);
  beforeEach((context) => context.skip(missing !== undefined, missing));
  afterAll(async () => {
    redis?.disconnect();
    await running?.stop();
  });

  test(
    'the scripts answer and store what the pure form does',
    async () => {
      const run = new ModelRun(redis);
      for (let seed = SEED; seed < SEED + RUNS; seed += 1) await run.check(seed);
    },
    RUN_MS,
  );

  const createPort = (limits: Partial<CausalLimits> = {}): CallPort => {
    const port = createRedisPartitionPort({
      name: 'port',
      connections: [redis as unknown as ScriptConnection],
      siteCount: 1,
      limits: { ...DEFAULT_LIMITS, ...limits },
      requestTimeoutMs: 60_000,
      getSiteView: () => {},
    });
    const address = { site: 0, partition: 0 };
    return (name, request) =>
      new Promise((resolve) => {
        port.call(address, name, request, (reply) => resolve(reply as never));
      });
  };
  const readTime = async (): Promise<Stamp> => {
    const [seconds, micros] = await redis.time();
    return Number(seconds) * 1_000_000 + Number(micros);
  };
  const createPut = async (id: string, value: Uint8Array): Promise<PutRequest> => {
    const siteTime = await readTime();
    const zero = [0];
    return {
      key: 'ключ',
      kind: 'value',
      value,
      ttl: 0,
      id,
      dependencies: zero,
      stable: zero,
      siteTime,
      lastSeen: 0,
    };
  };

  test('the port writes and reads bytes, also after SCRIPT FLUSH', async () => {
    const call = createPort();
    await redis.flushall();
    const before = await readTime();
    const value = Uint8Array.of(0, 255, 10, 13);
    const { stamp } = await call('put', await createPut('w1', value));
    expect(stamp).toBeGreaterThan(before);
    await redis.script('FLUSH');
    const siteTime = await readTime();
    const request = {
      keys: ['ключ', 'none'],
      snapshot: [stamp],
      acceptsMissing: false,
      siteTime,
      lastSeen: stamp,
    };
    const { versions, clock } = await call('read', request);
    expect(clock).toBe(stamp);
    expect(versions[1]).toBeUndefined();
    expect(versions[0]).toMatchObject({ stamp, site: 0, kind: 'value', dependencies: [stamp] });
    expect(Uint8Array.from(versions[0]?.value as Uint8Array)).toEqual(value);
    const { chains, nextPage } = await call('scan', { page: '', maxKeys: 10 });
    expect(chains.map(([key]) => key)).toEqual(['ключ']);
    expect(nextPage).toBeUndefined();
  });

  test('pages of a scan bring all chains, and one read brings a thousand keys (CAUSAL-14)', async () => {
    const call = createPort();
    await redis.flushall();
    const keys = Array.from({ length: 1_000 }, (_, index) => `key ${index}`);
    let last: PutReply | undefined;
    for (const key of keys)
      last = await call('put', { ...(await createPut(key, new Uint8Array(100))), key });
    const { stamp } = last as PutReply;

    const found = new Set<string>();
    let pages = 0;
    for (let page: string | undefined = ''; page !== undefined; pages += 1) {
      const reply: ScanReply = await call('scan', { page, maxKeys: 100 });
      for (const [key] of reply.chains) found.add(key);
      page = reply.nextPage;
    }
    expect(pages).toBeGreaterThan(5);
    expect([...found].toSorted()).toEqual(keys.toSorted());

    const fence = { siteTime: await readTime(), lastSeen: stamp };
    const { versions } = await call('read', {
      ...fence,
      keys,
      snapshot: [stamp],
      acceptsMissing: false,
    });
    expect(versions.filter((version) => version !== undefined)).toHaveLength(keys.length);
  });

  test('an entry that had to go leaves its id, and not its value (CAUSAL-16, CAUSAL-17)', async () => {
    const call = createPort({ maxOwnEntries: 1 });
    await redis.flushall();
    const { stamp } = await call('put', await createPut('w1', new Uint8Array(10_000)));
    await call('put', await createPut('w2', new Uint8Array(10)));
    expect((await redis.hgetBuffer('{port:0}', 'o:1'))?.length).toBeLessThan(100);
    expect(await call('put', await createPut('w1', new Uint8Array(10_000)))).toEqual({
      stamp,
      droppedEntries: 0,
    });
  });

  test('if the memory is full, a put is refused, and reads and polls go on', async () => {
    const call = createPort();
    await redis.flushall();
    const { stamp } = await call('put', await createPut('w1', new Uint8Array(10)));
    await redis.config('SET', 'maxmemory', '1');
    onTestFinished(async () => void (await redis.config('SET', 'maxmemory', '0')));
    expect(await call('put', await createPut('w2', new Uint8Array(10)))).toEqual({
      refused: 'FULL',
    });
    const siteTime = await readTime();
    const fence = { siteTime, lastSeen: stamp };
    const read = { ...fence, keys: ['ключ'], snapshot: [siteTime], acceptsMissing: false };
    expect((await call('read', read)).versions).toMatchObject([{ stamp }]);
    expect(await call('state', { ...fence, siteClock: 0, stable: [0] })).toMatchObject({
      lastOwnStamp: stamp,
    });
  });

  test.each(PLANTED_FAULTS)('finds a planted fault: %s', async (_, part, replacement) => {
    let changes = 0;
    const run = new ModelRun(redis, (text) => {
      const changed = text.replace(part, replacement);
      if (changed !== text) changes += 1;
      return changed;
    });
    const findFault = async (): Promise<void> => {
      for (let seed = 1; seed <= FAULT_RUNS; seed += 1) await run.check(seed);
    };
    await expect(findFault()).rejects.toThrow(/seed \d+, step \d+/);
    expect(changes).toBeGreaterThan(0);
  });
});
