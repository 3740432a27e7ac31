/**
 * Transactions on a real ensemble: its rules for `multi`, which the tests' own server only repeats,
 * and real races.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { beforeAll, expect, test } from 'vitest';
import {
  ZooKeeper,
  zookeeper,
  type ZooKeeperLevels,
} from '../../../src/bindings/zookeeper/index.ts';
import { createClient, isCorrectableError, type Client } from '../../../src/index.ts';
import {
  commit,
  get,
  put,
  readVersions,
  type CommitResult,
  type VersionedRead,
} from '../../../src/operations/index.ts';
import { transaction } from '../../../src/transactions/index.ts';
import { SITES } from '../../../engines/wan.ts';
import { CuttableRoute } from '../support/cuttable-route.ts';
import { withEnsemble } from '../support/zookeeper.ts';

type Store = Client<ZooKeeperLevels>;

const cluster = withEnsemble();
const COMMITTED = { committed: true, changed: [] };
let roots = 0;

/** Clients at each of the sites, on keys of their own. */
function openSites(): {
  readonly root: string;
  readonly stores: readonly Store[];
  close(): Promise<unknown>;
} {
  roots += 1;
  const root = `/transactions-${roots}`;
  const stores = SITES.map((site) =>
    createClient(zookeeper({ servers: cluster.ensemble.connectString(site), root })),
  );
  return { root, stores, close: () => Promise.all(stores.map((store) => store.close())) };
}

async function readAll(store: Store, ...keys: string[]): Promise<VersionedRead[]> {
  const found = await store.invokeStrong(readVersions(keys));
  return keys.map((key, at) => ({ key, version: found[at]!.version }));
}

const write = (key: string, value: unknown): { key: string; value: unknown }[] => [{ key, value }];

beforeAll(async () => {
  // Each site answers before the first race begins.
  const { stores, close } = openSites();
  await Promise.all(stores.map((store) => store.invokeStrong(get('k'))));
  await close();
});

test.each([
  ['a present key', true],
  ['an absent key', false],
])('three clients race on %s → exactly one commits', async (_, isPresent) => {
  const { stores, close } = openSites();
  for (let round = 0; round < 20; round += 1) {
    const key = `k${round}`;
    if (isPresent) await stores[0]!.invoke(put(key, 0));
    const reads = await Promise.all(stores.map((store) => readAll(store, key)));
    const racing = stores.map((store, at) =>
      store.invokeStrong(commit(reads[at]!, write(key, at))),
    );
    const results: CommitResult[] = await Promise.all(racing);
    const winners = results.flatMap(({ committed }, at) => (committed ? [at] : []));
    expect(winners).toHaveLength(1);
    for (const { committed, changed } of results) if (!committed) expect(changed).toEqual([key]);
    expect(await stores[0]!.invokeStrong(get(key))).toBe(winners[0]);
  }
  await close();
});

test('an absent key that is only read → certified, and never seen as a node', async () => {
  const { root, stores, close } = openSites();
  const [near, far] = stores as [Store, Store, Store];
  await near.invoke(put('other', 1));
  const reads = await readAll(near, 'a');
  let looks = 0;
  const over = new AbortController();
  await using zk = new ZooKeeper(cluster.ensemble.address('virginia'));
  const looking = (async () => {
    for (; !over.signal.aborted; looks += 1) expect(await zk.exists(`${root}/keys/a`)).toBeNull();
  })();
  for (let n = 0; n < 50; n += 1) {
    expect(await near.invokeStrong(commit(reads, write('b', n)))).toEqual(COMMITTED);
  }
  over.abort();
  await looking;
  expect(looks).toBeGreaterThan(0);
  expect(await readAll(near, 'a')).toEqual(reads);

  await far.invoke(put('a', 1));
  const refused = await near.invokeStrong(commit(reads, write('b', 'never')));
  expect(refused).toEqual({ committed: false, changed: ['a'] });
  expect(await far.invokeStrong(get('b'))).toBe(49);
  await close();
});

test('writes without reads, of keys that other clients create and write at once → each applied once', async () => {
  const { root, stores, close } = openSites();
  const keys = ['a', 'b', 'c'];
  const rounds = 20;
  await Promise.all(
    stores.map(async (store, site) => {
      for (let round = 0; round < rounds; round += 1) {
        const writes = keys.map((key) => ({ key, value: `${site}/${round}` }));
        expect(await store.invokeStrong(commit([], writes))).toEqual(COMMITTED);
      }
    }),
  );
  await using zk = new ZooKeeper(cluster.ensemble.address('ireland'));
  await zk.sync();
  const stats = await Promise.all(keys.map((key) => zk.exists(`${root}/keys/${key}`)));
  // The first write created the node, as version 0.
  expect(stats.map((stat) => stat?.version)).toEqual(keys.map(() => stores.length * rounds - 1));
  await close();
});

test('both of two keys written at once, all the time → no read ever mixes two states', async () => {
  const { stores, close } = openSites();
  const [writer, other, reader] = stores as [Store, Store, Store];
  const over = new AbortController();
  const writing = [writer, other].map(async (store, site) => {
    for (let n = 0; !over.signal.aborted; n += 1) {
      const value = `${site}/${n}`;
      await store.invokeStrong(commit([], [...write('a', value), ...write('b', value)]));
    }
  });
  const states = new Set<unknown>();
  for (let n = 0; n < 300; n += 1) {
    const reading =
      n % 2 === 0
        ? reader.invokeWeak(readVersions(['a', 'b']))
        : other.invokeStrong(readVersions(['a', 'b']));
    const [a, b] = await reading;
    expect(a?.value).toBe(b?.value);
    states.add(a?.value);
  }
  over.abort();
  await Promise.all(writing);
  expect(states.size).toBeGreaterThan(10);
  await close();
});

test('the connection is lost while commits are in flight → UNKNOWN or an outcome, and the store agrees', async () => {
  const { root, stores, close } = openSites();
  const [steady] = stores as [Store];
  await using route = await CuttableRoute.open(cluster.ensemble.address('frankfurt'), 5);
  const store = createClient(zookeeper({ servers: route.address, root }));
  const outcomes: unknown[] = [];
  for (let n = 0; n < 20; n += 1) {
    await steady.invoke(put('k', -1));
    const reads = await readAll(steady, 'k');
    const committing = Promise.resolve(store.invokeStrong(commit(reads, write('k', n))));
    // A trip takes 10 ms there and back: some cuts come before the commit arrives, and some after
    // it.
    const cutting = pause(n).then(() => route.cut());
    const outcome = await committing.then(
      ({ committed }) => committed,
      (error: unknown) => {
        if (!isCorrectableError(error, 'UNKNOWN')) throw error;
        return 'UNKNOWN';
      },
    );
    await cutting;
    const stored = await steady.invokeStrong(get('k'));
    if (outcome === 'UNKNOWN') expect([-1, n]).toContain(stored);
    else expect([outcome, stored]).toEqual([true, n]);
    outcomes.push(outcome);
  }
  expect(new Set(outcomes)).toContain('UNKNOWN');
  await store.close();
  await close();
});

test('transfers between accounts from three sites at once → the total is constant at every strong read', async () => {
  const { stores, close } = openSites();
  const accounts = ['a', 'b', 'c', 'd', 'e'];
  const total = 100 * accounts.length;
  await stores[0]!.invokeStrong(
    commit(
      [],
      accounts.map((key) => ({ key, value: 100 })),
    ),
  );
  const transfers = stores.flatMap((store, site) =>
    [0, 1].map(async (worker) => {
      for (let n = 0; n < 15; n += 1) {
        const [from, to] = [accounts[(n + site) % 5]!, accounts[(n + site + 1 + worker) % 5]!];
        await transaction(
          store,
          async (tx) => {
            const [a = 0, b = 0] = await tx.getMany<number>([from, to]);
            tx.put(from, a - 1);
            tx.put(to, b + 1);
          },
          { maxAttempts: 100 },
        );
      }
    }),
  );
  const over = new AbortController();
  const auditing = (async () => {
    while (!over.signal.aborted) {
      const values = await stores[1]!.invokeStrong(readVersions<number>(accounts));
      expect(values.reduce((sum, { value = 0 }) => sum + value, 0)).toBe(total);
    }
  })();
  await Promise.all(transfers);
  over.abort();
  await auditing;
  await close();
});

test('a commit of nearly the most bytes and of 1,000 keys → applied on every server', async () => {
  const { stores, close } = openSites();
  const large = { key: 'large', value: 'x'.repeat(999_000) };
  expect(await stores[0]!.invokeStrong(commit([], [large]))).toEqual(COMMITTED);
  const many = Array.from({ length: 1_000 }, (_, n) => ({ key: `k${n}`, value: n }));
  expect(await stores[1]!.invokeStrong(commit([], many))).toEqual(COMMITTED);
  const keys = many.map(({ key }) => key);
  const reads = await readAll(stores[2]!, ...keys);
  expect(await stores[2]!.invokeStrong(commit(reads, many))).toEqual(COMMITTED);
  expect(await stores[0]!.invokeStrong(get<string>('large'))).toBe(large.value);
  await close();
});
