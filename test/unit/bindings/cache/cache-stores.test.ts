/** Caches that outlive their process: what is written behind, what is taken over at opening. */
// @rule CACHE-8
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ClassicLevel } from 'classic-level';
import { afterEach, describe, expect, onTestFinished, test, vi, type MockInstance } from 'vitest';
import {
  cached,
  mapStore,
  type CacheChange,
  type CacheOptions,
  type CacheStore,
} from '../../../../src/bindings/cache/index.ts';
import { directoryStore } from '../../../../src/bindings/cache/node.ts';
import { createClient } from '../../../../src/correctable/client/client.ts';
import { get, put } from '../../../../src/operations/index.ts';
import { keepsStoreContract, type Place } from './store-contract.ts';
import { StoreBehind, type StoreLevels } from './store-behind.ts';

const directories: string[] = [];

async function directory(): Promise<string> {
  const path = await mkdtemp(join(tmpdir(), 'correctables-cache-'));
  directories.push(path);
  return path;
}

afterEach(async () => {
  for (const path of directories.splice(0)) await rm(path, { recursive: true, force: true });
});

function open(options: CacheOptions<StoreLevels>) {
  const store = new StoreBehind();
  const binding = cached(store, options);
  const client = createClient(binding);
  const fill = async (key: string, value: unknown, version?: number): Promise<void> => {
    const read = client.invokeStrong(get(key));
    store.last.sink.view(value, 'strong', { version });
    await read;
  };
  return { store, binding, client, fill };
}

/** The same contract for every store: run on each. */
const stores: Record<string, () => Promise<() => CacheStore>> = {
  mapStore: async () => {
    const shared = mapStore();
    return () => shared;
  },
  directoryStore: async () => {
    const path = await directory();
    return () => directoryStore({ directory: path });
  },
};

/** After a failed write LevelDB acknowledges what it loses, until it is opened again. */
async function failLevelWrite(opened: CacheStore, changes: readonly CacheChange[]): Promise<void> {
  const whole = Reflect.get(ClassicLevel.prototype, 'batch') as (
    ...given: unknown[]
  ) => Promise<void>;
  const broken = new Set<unknown>();
  const batch = vi.spyOn(ClassicLevel.prototype, 'batch') as unknown as MockInstance<typeof whole>;
  onTestFinished(() => batch.mockRestore());
  batch.mockImplementation(async function (this: unknown, ...given) {
    if (batch.mock.calls.length > 1) return broken.has(this) ? undefined : whole.apply(this, given);
    broken.add(this);
    throw new Error('IO error: No space left on device');
  });
  await opened.write(changes);
}

const failings: Record<string, Place['failWrite']> = {
  mapStore: (opened, changes) =>
    opened.write(changes, () => {
      throw new Error('not decided');
    }),
  directoryStore: failLevelWrite,
};

for (const [name, make] of Object.entries(stores)) {
  const failWrite = failings[name] as Place['failWrite'];
  keepsStoreContract(name, async () => ({
    open: await make(),
    beside: (opened) => opened,
    failWrite,
  }));
}

describe.each(Object.entries(stores))('cache: %s', (_name, make) => {
  test('closed and opened again → the views are there, with versions, dates, bytes and bigints', async () => {
    const store = await make();
    const before = open({ store: store(), principal: 'ada' });
    const bytes = { array: new Uint8Array([1, 2]), buffer: Buffer.from([3, 4]) };
    const value = { at: new Date(5), bytes, big: 7n, nested: [undefined, null] };
    await before.fill('x', value, 4);
    await before.client.close();
    const after = open({ store: store(), principal: 'ada' });
    onTestFinished(() => after.client.close());
    const view = await after.client.invokeWeak(get('x')).settle();
    expect(view).toMatchObject({ value, version: 4, meta: { cachedFrom: 'strong' } });
    const found = (view.value as typeof value).bytes;
    expect([found.array, found.buffer].map((item) => Buffer.isBuffer(item))).toEqual([false, true]);
  });

  test('two clients on it, one of them writes → the other shows nothing from before', async () => {
    const store = (await make())();
    const [mine, theirs] = [open({ store }), open({ store })];
    await Promise.all([mine.binding.ready(), theirs.binding.ready()]);
    await theirs.fill('x', 'old');
    const write = mine.client.invokeStrong(put('x', 'new'));
    mine.store.last.sink.view(undefined, 'strong');
    await write;
    await expect(theirs.client.invokeWeak(get('x'))).rejects.toMatchObject({ code: 'UNAVAILABLE' });
    await Promise.all([mine.client.close(), theirs.client.close()]);
  });

  test('dropped and replaced views → stay so after opening again', async () => {
    const store = await make();
    const before = open({ store: store() });
    await before.fill('dropped', 1);
    await before.fill('replaced', 'old');
    await before.binding.invalidate('dropped');
    const write = before.client.invokeStrong(put('replaced', 'new'));
    before.store.last.sink.view(undefined, 'strong');
    await write;
    await before.client.close();
    const after = open({ store: store() });
    onTestFinished(() => after.client.close());
    await expect(after.client.invokeWeak(get('dropped'))).rejects.toMatchObject({
      code: 'UNAVAILABLE',
    });
    expect(await after.client.invokeWeak(get('replaced'))).toBe('new');
  });

  test('opened with smaller bounds → the oldest leave the store, too', async () => {
    let now = 0;
    const store = await make();
    const before = open({ store: store(), now: () => ++now });
    for (const key of ['z', 'y', 'x']) await before.fill(key, key);
    await before.client.close();
    const smaller = open({ store: store(), maxEntries: 2 });
    await smaller.binding.ready();
    expect(smaller.binding.size.entries).toBe(2);
    await smaller.client.close();
    const after = open({ store: store() });
    onTestFinished(() => after.client.close());
    await after.binding.ready();
    expect(after.binding.size.entries).toBe(2);
    await expect(after.client.invokeWeak(get('z'))).rejects.toMatchObject({ code: 'UNAVAILABLE' });
  });

  test('clear → nothing is left after opening again', async () => {
    const store = await make();
    const before = open({ store: store(), principal: 'ada' });
    await before.fill('x', 1);
    await before.binding.clear({ principal: 'ada' });
    await before.client.close();
    const after = open({ store: store() });
    onTestFinished(() => after.client.close());
    await after.binding.ready();
    expect(after.binding.size).toEqual({ entries: 0, bytes: 0 });
  });
});

describe('cache: while the store is read', () => {
  /** A store whose `load` the test ends. */
  function slowStore(): { store: CacheStore; loaded: () => void; written: CacheStore['write'] } {
    const retained = mapStore();
    let loaded: () => void = () => {};
    const gate = new Promise<void>((resolve) => (loaded = resolve));
    const store = { ...retained, load: () => gate.then(() => retained.load()) };
    return { store, loaded, written: (changes) => retained.write(changes) };
  }

  test('closed in the meantime → a waiting read fails with UNAVAILABLE', async () => {
    const { store, loaded } = slowStore();
    const { client } = open({ store });
    const read = client.invokeWeak(get('x'));
    const closed = client.close();
    loaded();
    await expect(read).rejects.toMatchObject({ code: 'UNAVAILABLE' });
    await closed;
  });
});

describe('cache: a store that fails', () => {
  test('load fails → reported, the cache works in memory', async () => {
    const onError = vi.fn<(error: unknown) => void>();
    const broken = new Error('no such database');
    const shop = open({ store: { ...mapStore(), load: () => Promise.reject(broken) }, onError });
    await shop.fill('x', 1);
    expect(await shop.client.invokeWeak(get('x'))).toBe(1);
    await expect.poll(() => onError.mock.calls).toContainEqual([broken]);
  });

  test('writes: one batch at a time, changes of one entry in the meantime collapse', async () => {
    const batches: number[] = [];
    let release: () => void = () => {};
    const store: CacheStore = {
      ...mapStore(),
      write: (changes) => {
        // Beside the ledger.
        batches.push(changes.length - 1);
        return new Promise((resolve) => (release = resolve));
      },
    };
    const shop = open({ store });
    await shop.fill('x', 1);
    await expect.poll(() => batches).toEqual([1]);
    for (const value of [2, 3, 4]) await shop.fill('x', value);
    await shop.fill('y', 1);
    expect(batches).toEqual([1]);
    release();
    await expect.poll(() => batches).toEqual([1, 2]);
    release();
    await shop.client.close();
  });

  test('directoryStore: a damaged entry → a miss that leaves the directory, the others are read', async () => {
    const path = await directory();
    const before = open({ store: directoryStore({ directory: path }) });
    await before.fill('x', 1);
    await before.client.close();
    const database = new ClassicLevel(path);
    await database.put('cache view damaged', 'not a view');
    await database.close();
    const warned = new Promise<Error>((resolve) => process.once('warning', resolve));
    const after = open({ store: directoryStore({ directory: path }) });
    expect(await after.client.invokeWeak(get('x'))).toBe(1);
    expect((await warned).message).toContain('dropped what cannot be read');
    await after.client.close();
    const again = new ClassicLevel(path);
    expect(await again.get('cache view damaged')).toBeUndefined();
    await again.close();
  });
});

test('cache: an entry of its store is no view → dropped and reported, the others are kept', async () => {
  const store = mapStore();
  const before = open({ store });
  await before.fill('whole', 1);
  await before.client.close();
  const [[id, entry] = expect.fail('nothing was kept'), ledger = expect.fail('no ledger')] = [
    ...(await store.load()),
  ];
  const idOf = (key: string): string => id.replaceAll('whole', key);
  const damaged = [
    undefined,
    7,
    null,
    {},
    { ...entry, level: 5 },
    { ...entry, touches: 5 },
    { ...entry, cachedAt: 'now' },
  ];
  const load = async (): Promise<Iterable<readonly [string, typeof entry]>> =>
    new Map<string, unknown>([
      ...damaged.map((item, at) => [idOf(`damaged ${at}`), item] as const),
      ['no id of a view', entry],
      [id, entry],
      ledger,
    ]) as Map<string, typeof entry>;
  const errors: unknown[] = [];
  const written: (readonly [string, unknown])[] = [];
  const write: CacheStore['write'] = async (changes) => void written.push(...changes);
  const after = open({
    store: { ...store, load, write },
    onError: (error) => void errors.push(error),
  });
  await after.binding.ready();
  expect((await after.client.invokeWeak(get('whole')).settle()).value).toBe(1);
  const read = after.client.invokeStrong(get('damaged 3'));
  after.store.last.sink.view('from the store', 'strong');
  expect(await read).toBe('from the store');
  await after.binding.clear({ principal: '' });
  await after.client.close();
  // What has no id of a view was written by a version before.
  expect(errors).toHaveLength(damaged.length);
  expect(written.filter(([, change]) => change === undefined).length).toBeGreaterThan(
    damaged.length,
  );
});
