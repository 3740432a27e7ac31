/**
 * Many keys in one request: the coordinator reads them at the same time, not one after the other.
 */
import { beforeAll, expect, test } from 'vitest';
import { cassandra, getKeyValueTableCql } from '../../src/bindings/cassandra/index.ts';
import { createClient } from '../../src/index.ts';
import { get, getMany, put } from '../../src/operations/index.ts';
import { withCassandra } from './support/cassandra.ts';
import { medianMs } from './support/median.ts';

const KEYS = Array.from({ length: 20 }, (_, n) => `key-${n}`);
const it = withCassandra();

beforeAll(async () => {
  await it.client('frankfurt').execute(getKeyValueTableCql({ keyspace: it.keyspace }));
});

test('getMany: twenty keys → far from the time of twenty reads', async () => {
  const store = createClient(
    cassandra({ contactPoints: [it.cluster.address('frankfurt')], keyspace: it.keyspace }),
  );
  await Promise.all(KEYS.map((key) => store.invoke(put(key, key))));
  const item = await medianMs(7, async () => store.invokeStrong(get('key-0')));
  const many = await medianMs(7, async () => store.invokeStrong(getMany(KEYS)));
  expect(await store.invokeStrong(getMany(KEYS))).toEqual(KEYS);
  expect(many / item).toBeLessThan(KEYS.length / 2);
  await store.close();
});
