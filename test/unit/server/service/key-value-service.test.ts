/** The ready key-value service: transactions that are certified in the red order. */
import { afterEach, describe, expect, test } from 'vitest';
import { keyValue } from '../../../../src/contract/index.ts';
import { createClient, type Client } from '../../../../src/correctable/client/client.ts';
import {
  commit,
  get,
  getMany,
  put,
  readVersions,
  type BufferedWrite,
  type CommitResult,
  type VersionedRead,
} from '../../../../src/operations/index.ts';
import type { RedBlueLevels } from '../../../../src/protocol/redblue-levels.ts';
import {
  createEmbedded,
  keyValueService,
  type Embedded,
  type EmbeddedOptions,
} from '../../../../src/server/index.ts';
import { analyzeColors } from '../../../../src/testing/index.ts';

type Store = Client<RedBlueLevels>;
type Sites = Readonly<Record<'ireland' | 'frankfurt' | 'virginia', Store>>;

const COMMITTED: CommitResult = { committed: true, changed: [] };
const deployments: Embedded[] = [];

const NO_LATENCY = { 'ireland-frankfurt': 0, 'ireland-virginia': 0, 'frankfurt-virginia': 0 };

function start(options: Pick<EmbeddedOptions, 'maxAttempts' | 'latency'> = {}): Sites {
  const deployment = createEmbedded(keyValueService, {
    sites: ['ireland', 'frankfurt', 'virginia'],
    ...options,
  });
  deployments.push(deployment);
  return {
    ireland: createClient(deployment.site('ireland')),
    frankfurt: createClient(deployment.site('frankfurt')),
    virginia: createClient(deployment.site('virginia')),
  };
}

afterEach(async () => {
  for (const deployment of deployments.splice(0)) await deployment.close();
});

/** The versions of keys at the head of the red order; the site has that state then, too. */
async function readLatest(store: Store, ...keys: string[]): Promise<VersionedRead[]> {
  const entries = await store.invokeStrong(readVersions(keys));
  return entries.map(({ version }, at) => ({ key: keys[at] as string, version }));
}

function write(key: string, value: unknown): BufferedWrite {
  return { key, value };
}

/** The error of the operation, as `CONFLICT`, or its result. */
async function settle(operation: PromiseLike<CommitResult>): Promise<CommitResult | string> {
  try {
    return await operation;
  } catch (error) {
    return (error as { code: string }).code;
  }
}

/** Level and value of each view. */
async function collectViews<T>(
  views: AsyncIterable<{ readonly level: string; readonly value: T }>,
): Promise<[string, T][]> {
  const seen: [string, T][] = [];
  for await (const { level, value } of views) seen.push([level, value]);
  return seen;
}

describe('key-value service: values', () => {
  test('put, get and getMany take the builders of both entries; an absent key is undefined', async () => {
    const { ireland, virginia } = start();
    await ireland.invoke(put('a', { n: 1 }));
    await virginia.invoke(keyValue.put({ key: 'b', value: null }));

    expect(await virginia.invokeStrong(getMany(['b', 'none', 'a']))).toEqual([
      null,
      undefined,
      { n: 1 },
    ]);
    expect(await ireland.invokeStrong(keyValue.get({ key: 'a' }))).toEqual({ n: 1 });
    expect(await ireland.invokeStrong(get('none'))).toBeUndefined();
  });

  test('put is red: a tentative and a strong view', async () => {
    const { virginia } = start();
    expect(await collectViews(virginia.invoke(put('a', 1)))).toEqual([
      ['tentative', undefined],
      ['strong', undefined],
    ]);
  });
});

describe('key-value service: versions', () => {
  test('each write gives a key another version, also if its value is the same or is removed', async () => {
    const { ireland } = start();
    const reads = await readLatest(ireland, 'a');
    for (const value of [1, 1, undefined, 1]) {
      await ireland.invoke(put('a', value));
      reads.push(...(await readLatest(ireland, 'a')));
    }
    expect(new Set(reads.map(({ version }) => version)).size).toBe(5);
  });

  test('undefined removes a value; its version stays one of its own', async () => {
    const { ireland } = start();
    await ireland.invoke(commit([], [write('a', 1)]));
    await ireland.invoke(commit(await readLatest(ireland, 'a'), [write('a', undefined)]));

    const [entry] = await ireland.invokeStrong(readVersions(['a']));
    expect(entry).toEqual({ version: expect.stringMatching(/./) });
    expect(await ireland.invokeStrong(get('a'))).toBeUndefined();
  });

  test('a value is left out if the caller has its version, and only then', async () => {
    const { ireland } = start();
    await ireland.invoke(commit([], [write('a', 1), write('b', 2)]));
    const [a, b] = await readLatest(ireland, 'a', 'b');
    await ireland.invoke(put('b', 3));

    const known = new Map([
      ['a', a!.version],
      ['b', b!.version],
    ]);
    expect(await ireland.invokeStrong(readVersions(['none', 'b', 'a'], known))).toEqual([
      { version: '' },
      { version: expect.any(String), value: 3 },
      { version: a!.version },
    ]);
  });

  test('a causal read shows nothing of a commit in flight at its own site', async () => {
    const { virginia } = start();
    const pending = virginia.invoke(put('a', 1));
    await pending.when('tentative');
    expect(await virginia.invokeWeak(readVersions(['a']))).toEqual([{ version: '' }]);
    await pending;
    expect(await virginia.invokeWeak(readVersions(['a']))).toMatchObject([{ value: 1 }]);
  });

  test('a strong read sees every commit that was answered before, at any site', async () => {
    const { ireland, virginia } = start();
    for (let n = 0; n < 10; n += 1) {
      const [from, to] = n % 2 === 0 ? [ireland, virginia] : [virginia, ireland];
      await from.invoke(commit(await readLatest(from, 'a'), [write('a', n)]));
      expect(await to.invokeStrong(readVersions(['a']))).toMatchObject([{ value: n }]);
    }
  });
});

describe('key-value service: commits', () => {
  test('nothing changed → a tentative and a strong view, and all writes are there', async () => {
    const { virginia, ireland } = start();
    const reads = await readLatest(virginia, 'a', 'b');
    const views = await collectViews(
      virginia.invoke(commit(reads, [write('a', 1), write('b', 2)])),
    );

    expect(views).toEqual([
      ['tentative', COMMITTED],
      ['strong', COMMITTED],
    ]);
    expect(await ireland.invokeStrong(getMany(['a', 'b']))).toEqual([1, 2]);
  });

  test('two sites change one key at a time → one of them, and the other learns the key', async () => {
    const { frankfurt, virginia } = start();
    await frankfurt.invoke(put('a', 0));
    const reads = [await readLatest(frankfurt, 'a'), await readLatest(virginia, 'a')];

    const commits = [frankfurt, virginia].map((store, at) =>
      store.invoke(commit(reads[at]!, [write('a', at + 1), write(`only ${at + 1}`, true)])),
    );
    const tentative = await Promise.all(commits.map((item) => item.when('tentative')));
    const results = await Promise.all(commits);

    expect(tentative.map(({ value }) => value)).toEqual([COMMITTED, COMMITTED]);
    const winner = results.findIndex(({ committed }) => committed) + 1;
    expect(results[2 - winner]).toEqual({ committed: false, changed: ['a'] });
    expect(
      await frankfurt.invokeStrong(getMany(['a', `only ${winner}`, `only ${3 - winner}`])),
    ).toEqual([winner, true, undefined]);
  });

  test('two sites create one key → one of them', async () => {
    const { frankfurt, virginia } = start();
    const absent = [{ key: 'a', version: '' }];
    const results = await Promise.all(
      [frankfurt, virginia].map((store, n) => store.invoke(commit(absent, [write('a', n)]))),
    );
    expect(results.filter(({ committed }) => committed)).toHaveLength(1);
    expect(results.filter(({ committed }) => !committed)).toEqual([
      { committed: false, changed: ['a'] },
    ]);
  });

  test('each reads what the other writes → one of them: no write skew', async () => {
    const { frankfurt, virginia } = start();
    const results = await Promise.all([
      frankfurt.invoke(commit([{ key: 'a', version: '' }], [write('b', 1)])),
      virginia.invoke(commit([{ key: 'b', version: '' }], [write('a', 1)])),
    ]);
    expect(results.filter(({ committed }) => committed)).toHaveLength(1);
  });

  test('disjoint keys → both, without a second execution', async () => {
    const { frankfurt, virginia } = start({ maxAttempts: 1 });
    const results = await Promise.all([
      frankfurt.invoke(commit([{ key: 'a', version: '' }], [write('a', 1)])),
      virginia.invoke(commit([{ key: 'b', version: '' }], [write('b', 1)])),
    ]);
    expect(results).toEqual([COMMITTED, COMMITTED]);
  });

  test('a put between read and commit → changed, at both levels, and nothing is written', async () => {
    const { virginia } = start();
    const reads = await readLatest(virginia, 'a', 'b', 'c');
    await virginia.invoke(put('a', 1));
    await virginia.invoke(put('c', 1));

    const changed = { committed: false, changed: ['a', 'c'] };
    expect(await collectViews(virginia.invoke(commit(reads, [write('b', 2)])))).toEqual([
      ['tentative', changed],
      ['strong', changed],
    ]);
    expect(await virginia.invokeStrong(get('b'))).toBeUndefined();
  });

  test('a put of another site in flight → the tentative view is wrong, the final corrects it', async () => {
    const { ireland, virginia } = start();
    const reads = await readLatest(virginia, 'a');
    const overtaking = ireland.invoke(put('a', 1));
    const late = virginia.invoke(commit(reads, [write('a', 2)]));

    expect(await collectViews(late)).toEqual([
      ['tentative', COMMITTED],
      ['strong', { committed: false, changed: ['a'] }],
    ]);
    // The next run begins with what overtook this one, even at the weakest level.
    expect(await virginia.invokeWeak(get('a'))).toBe(1);
    await overtaking;
  });

  test('an own commit in flight on the key → the tentative view says so already', async () => {
    const { virginia } = start();
    const absent = [{ key: 'a', version: '' }];
    const first = virginia.invoke(commit(absent, [write('a', 1)]));
    const second = virginia.invoke(commit(absent, [write('a', 2)]));

    const changed = { committed: false, changed: ['a'] };
    expect(await collectViews(second)).toEqual([
      ['tentative', changed],
      ['strong', changed],
    ]);
    expect(await first).toEqual(COMMITTED);
  });

  test('the versions are ahead of the site → only the tentative view refuses', async () => {
    const { ireland, virginia } = start({ latency: { ...NO_LATENCY, 'ireland-virginia': 100 } });
    await ireland.invoke(put('a', 1));
    const ahead = await readLatest(ireland, 'a');

    expect(await collectViews(virginia.invoke(commit(ahead, [write('a', 2)])))).toEqual([
      ['tentative', { committed: false, changed: ['a'] }],
      ['strong', COMMITTED],
    ]);
  });

  test('writes without reads are never refused', async () => {
    const { frankfurt, virginia } = start({ maxAttempts: 1 });
    const blind = [frankfurt, virginia, frankfurt].map((store, n) =>
      store.invoke(commit([], [write('a', n), write('b', n)])),
    );
    expect(await Promise.all(blind)).toEqual([COMMITTED, COMMITTED, COMMITTED]);
    const [a, b] = await virginia.invokeStrong(getMany(['a', 'b']));
    expect(a).toBe(b);
  });

  test('reads without writes are certified at strong', async () => {
    const { ireland, virginia } = start();
    const reads = await readLatest(virginia, 'a', 'b');
    expect(await collectViews(virginia.invoke(commit(reads, [])))).toEqual([
      ['tentative', COMMITTED],
      ['strong', COMMITTED],
    ]);

    const overtaking = ireland.invoke(put('b', 1));
    expect(await collectViews(virginia.invoke(commit(reads, [])))).toEqual([
      ['tentative', COMMITTED],
      ['strong', { committed: false, changed: ['b'] }],
    ]);
    await overtaking;
  });

  test('an empty commit is committed', async () => {
    const { ireland } = start();
    expect(await ireland.invoke(commit([], []))).toEqual(COMMITTED);
  });

  test('a key that is written twice → its last value', async () => {
    const { ireland } = start();
    await ireland.invoke(commit([], [write('a', 1), write('a', 2)]));
    expect(await ireland.invokeStrong(get('a'))).toBe(2);
  });

  test('overtaken at each execution → CONFLICT, and nothing is written', async () => {
    const { ireland, virginia } = start({ maxAttempts: 1 });
    const reads = await readLatest(virginia, 'a');
    const overtaking = ireland.invoke(put('a', 1));
    const late = virginia.invoke(commit(reads, [write('a', 2), write('b', 2)]));

    expect(await settle(late)).toBe('CONFLICT');
    // The next run begins with what overtook this one, even at the weakest level.
    expect(await virginia.invokeWeak(readVersions(['a']))).toMatchObject([{ value: 1 }]);
    await overtaking;
    expect(await virginia.invokeStrong(getMany(['a', 'b']))).toEqual([1, undefined]);
  });

  test('a thousand keys fit, one more is refused', async () => {
    const { ireland } = start();
    const keys = Array.from({ length: 1_000 }, (_, n) => `k${n}`);
    const reads = await readLatest(ireland, ...keys);
    const writes = keys.map((key) => write(key, key));
    expect(await ireland.invoke(commit(reads, writes))).toEqual(COMMITTED);

    await expect(
      ireland.invoke(keyValue.commit({ reads: [], writes: [...writes, write('more', 1)] })),
    ).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' });
  });
});

test('labeling: red without a search, no warning, no finding', () => {
  const { shadows, warnings, generators } = analyzeColors(keyValueService, { runs: 50 });
  expect(shadows.map(({ operation, verdict }) => [operation, verdict])).toEqual([
    ['put', 'red'],
    ['commit', 'red'],
  ]);
  expect([...warnings, ...generators]).toEqual([]);
});
