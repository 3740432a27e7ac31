/**
 * A real Redis in front of an origin: filled and dropped without waiting, also while its process is
 * stopped.
 */
import { Redis } from 'ioredis';
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { startRedis, type RunningRedis } from '../../../engines/redis/single-server.ts';
import {
  cacheAside,
  getLagMs,
  tiered,
  versionSessions,
  withDetails,
  type CacheAsideOptions,
  type Tier,
  type TieredOptions,
} from '../../../src/bindings/tiered/index.ts';
import { signedTokens } from '../../../src/bindings/tiered/node.ts';
import { createClient } from '../../../src/correctable/client/client.ts';
import { get, put } from '../../../src/operations/index.ts';
import { Random } from '../../../src/server/service/collections/random.ts';
import { SessionSight } from '../../support/session-sight.ts';

const LEVELS = ['redis', 'origin'] as const;
const TTL_MS = 60_000;
const TOKEN_KEY = 'a secret of all processes';

let server: RunningRedis;
let admin: Redis;
beforeAll(async () => {
  server = await startRedis({ durable: false });
  admin = new Redis(server.url);
});
afterAll(async () => {
  admin.disconnect();
  await server.stop();
});
beforeEach(async () => {
  await admin.flushall();
});

/** Rows with the numbers of their writes. */
class Origin {
  readonly rows = new Map<string, { value: unknown; version: number }>();
  reads = 0;
  writes = 0;

  readonly tier: Tier = async ({ access, key = '', args }) => {
    if (access === 'write') {
      const version = (this.writes += 1);
      this.rows.set(key, { value: (args as { value: unknown }).value ?? version, version });
      return withDetails(version, { version });
    }
    this.reads += 1;
    const row = this.rows.get(key);
    await wait(5); // It is farther away than Redis.
    return row === undefined ? undefined : withDetails(row.value, { version: row.version });
  };
}

const wait = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

interface Setup
  extends Omit<TieredOptions, 'onError'>, Pick<CacheAsideOptions, 'timeoutMs' | 'onError'> {
  readonly origin?: Origin;
  readonly ttlMs?: number;
}

/** Opens what one process has: its connection, its tiers, and its client. */
function openProcess({
  origin = new Origin(),
  ttlMs = TTL_MS,
  timeoutMs,
  onError,
  ...options
}: Setup = {}) {
  const connection = new Redis(server.url);
  onTestFinished(() => connection.disconnect());
  const sent = { get: 0, set: 0, delete: 0 };
  const { cache, origin: database } = cacheAside({
    get: (key) => ((sent.get += 1), connection.get(key)),
    set: (key, text, leftMs) => ((sent.set += 1), connection.set(key, text, 'PX', leftMs)),
    delete: (key) => ((sent.delete += 1), connection.del(key)),
    ttlMs,
    timeoutMs,
    onError: onError ?? (() => {}),
    origin: origin.tier,
  });
  const client = createClient(tiered(LEVELS, { redis: cache, origin: database }, options), {
    timeoutMs: 600_000,
  });
  return { client, origin, sent };
}

type Client = ReturnType<typeof openProcess>['client'];

async function collect(client: Client, key: string, options = {}): Promise<string[]> {
  const views: string[] = [];
  for await (const { level, value } of client.invoke(get(key), options))
    views.push(`${level} ${JSON.stringify(value)}`);
  return views;
}

/** Redis is filled without waiting. */
async function untilFilled(key: string): Promise<void> {
  await expect.poll(() => admin.exists(key)).toBe(1);
}

// @rule TIER-8
test('a final view fills Redis for all processes, and a write drops it', async () => {
  const origin = new Origin();
  const [here, there] = [openProcess({ origin }), openProcess({ origin })];
  await here.client.invoke(put('user:7', { name: 'Ada' }));
  expect(await collect(here.client, 'user:7')).toEqual(['origin {"name":"Ada"}']);
  await untilFilled('user:7');
  expect(await admin.pttl('user:7')).toBeGreaterThan(0);
  expect(await collect(there.client, 'user:7')).toEqual([
    'redis {"name":"Ada"}',
    'origin {"name":"Ada"}',
  ]);
  await there.client.invoke(put('user:7', { name: 'Grace' }));
  await expect.poll(() => admin.exists('user:7')).toBe(0);
});

test('an entry leaves Redis after ttlMs', async () => {
  const { client } = openProcess({ ttlMs: 50 });
  await client.invoke(put('k', 1));
  await client.invoke(get('k'));
  await expect.poll(() => admin.exists('k')).toBe(0);
});

// @rule TIER-7
test('freshEnough: a read stops at Redis', async () => {
  const { client, origin } = openProcess({ freshEnough: (view) => getLagMs(view) < TTL_MS });
  await client.invoke(put('k', 1));
  await client.invoke(get('k'));
  await untilFilled('k');
  const { reads } = origin;
  expect(await collect(client, 'k')).toEqual(['redis 1']);
  expect(origin.reads).toBe(reads);
  expect(await client.invokeStrong(get('k'))).toBe(1);
  expect(origin.reads).toBe(reads + 1);
});

describe('while Redis is frozen', () => {
  /** Stops the process of the server until the test ends, at the latest. */
  function freeze(): () => void {
    const thaw = (): void => void process.kill(server.pid, 'SIGCONT');
    process.kill(server.pid, 'SIGSTOP');
    onTestFinished(thaw);
    return thaw;
  }

  // @rule TIER-9
  test('reads and writes end without it', async () => {
    // Whatever waited for Redis would wait for ten minutes.
    const { client, sent } = openProcess({ timeoutMs: 600_000 });
    await client.invoke(put('k', 'before'));
    await client.invoke(get('k'));
    await untilFilled('k');
    const thaw = freeze();
    expect(await collect(client, 'k')).toEqual(['origin "before"']);
    await client.invoke(put('k', 'after'));
    expect(await collect(client, 'k')).toEqual(['origin "after"']);
    expect(sent.delete).toBe(2);
    thaw();
    // Now it has executed what it got, in this order.
    await expect.poll(() => collect(client, 'k')).toEqual(['redis "after"', 'origin "after"']);
  });

  // @rule TIER-9
  test('with freshEnough, it is left alone after one timeout, and used again later', async () => {
    const failures: unknown[] = [];
    const { client, sent } = openProcess({
      freshEnough: () => true,
      timeoutMs: 50,
      onError: (error) => failures.push(error),
    });
    await client.invoke(put('k', 1));
    await client.invoke(get('k'));
    await untilFilled('k');
    const thaw = freeze();
    expect(await collect(client, 'k')).toEqual(['origin 1']);
    expect(failures).toMatchObject([{ code: 'TIMEOUT' }]);
    const { get: gets } = sent;
    for (let n = 0; n < 20; n += 1) expect(await collect(client, 'k')).toEqual(['origin 1']);
    expect(sent.get).toBe(gets);
    thaw();
    await expect.poll(() => collect(client, 'k')).toEqual(['redis 1']);
  });
});

describe('a recorded history of two processes', () => {
  const KEYS = ['a', 'b', 'c', 'd'] as const;
  const USERS = 4;
  const ACTIONS = 60;

  /** Each user goes from process to process. Returns what went back. */
  async function record(hasSessions: boolean): Promise<readonly string[]> {
    const origin = new Origin();
    const tokens = signedTokens({ tokenKey: TOKEN_KEY });
    const processes = [1, 2].map(() =>
      openProcess({ origin, sessions: versionSessions({ tokens }) }),
    ) as [ReturnType<typeof openProcess>, ReturnType<typeof openProcess>];
    const violations: string[] = [];
    const users = Array.from({ length: USERS }, async (_, user) => {
      const random = new Random(user + 1);
      const sight = new SessionSight();
      let seen: readonly string[] = [];
      for (let n = 0; n < ACTIONS; n += 1) {
        const { client } = random.pick(processes);
        const session = client.session({ tokens: seen });
        const options = hasSessions ? { session } : {};
        const key = random.pick(KEYS);
        if (random.chance(1 / 3)) {
          const written: unknown = await client.invoke(put(key, undefined), options);
          sight.write(key, written as number);
        } else {
          const note = sight.beginRead(key);
          for await (const { level, value } of client.invoke(get<number>(key), options)) {
            const least = note(value ?? 0);
            if (least !== undefined)
              violations.push(`user ${user}: ${key} at ${level}: ${value} after ${least}`);
          }
        }
        seen = session.tokens;
      }
    });
    await Promise.all(users);
    return violations;
  }

  // @rule TIER-1
  test('sessions on: no view goes back. Sessions off: the checker finds some that do', async () => {
    expect(await record(true)).toEqual([]);
    const found: string[] = [];
    for (let run = 0; run < 10 && found.length === 0; run += 1)
      found.push(...(await record(false)));
    expect(found.length).toBeGreaterThan(0);
  });
});
