/**
 * Values with versions on ZooKeeper: all from one state, although the store reads each node by
 * itself.
 */
import { expect, test } from 'vitest';
import { OP } from '../../../../../src/bindings/zookeeper/client/requests.ts';
import { ZooKeeper } from '../../../../../src/bindings/zookeeper/index.ts';
import { put, readVersions, type ReadVersionsArgs } from '../../../../../src/operations/index.ts';
import { countRequests, setUp, toNode } from './set-up.ts';

test('keys with and without a value → in their order, each with a version', async () => {
  const { client, read } = await setUp();
  await client.invoke(put('a', 1));
  const [b, a] = await read('b', 'a');
  expect([b?.value, a?.value]).toEqual([undefined, 1]);
  expect(new Set([b?.version, a?.version]).size).toBe(2);
  expect(await read('b', 'a')).toEqual([b, a]);
});

test('no keys → no values', async () => {
  const { client } = await setUp();
  expect(await client.invoke(readVersions([]))).toEqual([]);
});

test('a known version → the value is not read, unless another one is there', async () => {
  const setting = await setUp();
  const { client, ensemble, read } = setting;
  await client.invoke(put('a', 1));
  await client.invoke(put('b', 2));
  const [a, b, c] = await read('a', 'b', 'c');
  await client.invoke(put('b', 3));
  ensemble.server.requests.length = 0;
  const known = new Map(Object.entries({ a: a!.version, b: b!.version, c: c!.version }));
  const again = await client.invokeStrong(readVersions(['a', 'b', 'c'], known));
  expect(again).toEqual([{ version: a!.version }, { version: expect.anything(), value: 3 }, c]);
  expect(countRequests(setting, OP.getData)).toBe(1);
});

test('a key that was deleted and created again → another version', async () => {
  const { client, read, writeBetween } = await setUp();
  await client.invoke(put('a', 'other'));
  const [before] = await read('a');
  writeBetween({ type: OP.delete, path: toNode('a') }, { type: OP.create, path: toNode('a') });
  const [after] = await read('a');
  expect(after).toMatchObject({ value: before?.value });
  expect(after?.version).not.toBe(before?.version);
});

test('both keys written between the reads of them → never a mix of two states', async () => {
  const { client, ensemble, read, writeBetween } = await setUp();
  await client.invoke(put('a', 'old'));
  await client.invoke(put('b', 'old'));
  let writes = 0;
  ensemble.server.onRequest = ({ type, path }) => {
    if (type !== OP.getData || path !== toNode('b') || writes++ > 0) return undefined;
    const both = [toNode('a'), toNode('b')].map((item) => ({ type: OP.setData, path: item }));
    writeBetween(...both);
    return undefined;
  };
  expect((await read('a', 'b')).map(({ value }) => value)).toEqual(['other', 'other']);
});

test('a key written between every two reads → CONFLICT that names it', async () => {
  const { client, ensemble, read, writeBetween } = await setUp();
  await client.invoke(put('a', 'old'));
  ensemble.server.onRequest = ({ type, path }) => {
    if (type === OP.exists && path === toNode('a')) writeBetween({ type: OP.setData, path });
    return undefined;
  };
  await expect(read('a', 'b')).rejects.toMatchObject({ code: 'CONFLICT', key: 'a' });
});

test('a value of another tool that the codec cannot decode → INVALID_VALUE that names its key', async () => {
  const { client, ensemble, read } = await setUp();
  await client.invoke(put('a', 1));
  await client.invoke(put('b', 1));
  await using zk = new ZooKeeper(ensemble.connectString);
  await zk.set(toNode('b'), 'no JSON');
  const message = expect.stringContaining('readVersions: the value of the key "b" cannot be read');
  await expect(read('a', 'b')).rejects.toMatchObject({ code: 'INVALID_VALUE', key: 'b', message });
});

test('weak and strong → the near state first, then that after a sync', async () => {
  const { client, ensemble } = await setUp();
  await client.invoke(put('a', 1));
  ensemble.server.requests.length = 0;
  const views: unknown[] = [];
  const reading = client.invoke(readVersions<number>(['a']));
  for await (const { level, value } of reading) views.push([level, value[0]?.value]);
  expect(views).toEqual([
    ['weak', 1],
    ['strong', 1],
  ]);
  expect(ensemble.server.requests.filter(({ type }) => type === OP.sync)).toHaveLength(1);
});

test.each([
  [{ keys: ['a'], known: [] }, 'args.known'],
  [{ keys: [''] }, 'keys[0]'],
  [{ keys: 'a' }, 'keys'],
])('args %j → INVALID_ARGUMENT that names %s', async (args, field) => {
  const { client } = await setUp();
  const operation = { ...readVersions([]), args: args as ReadVersionsArgs };
  await expect(client.invoke(operation)).rejects.toMatchObject({ code: 'INVALID_ARGUMENT', field });
});
