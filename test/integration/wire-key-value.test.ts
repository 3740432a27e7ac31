/** The ready key-value service behind gateways: what a client of its contract sends and gets. */
import { WebSocket } from 'ws';
import { expect, test } from 'vitest';
import { redblue } from '../../src/bindings/redblue/index.ts';
import { keyValue } from '../../src/contract/index.ts';
import { createClient } from '../../src/index.ts';
import { commit, getMany, put, readVersions } from '../../src/operations/index.ts';
import { keyValueService, serve } from '../../src/server/index.ts';

test('values of all kinds, absent ones, and a transaction → as in one process', async () => {
  const server = await serve({
    service: keyValueService,
    sites: ['ireland', 'frankfurt'],
    port: 0,
  });
  const store = createClient(redblue(keyValue, { url: server.siteUrl('frankfurt'), WebSocket }));
  const value = { at: new Date(0), cents: 5n };
  await store.invoke(put('a', value));
  await store.invoke(put('gone', undefined));

  const read = await store.invokeStrong(readVersions(['a', 'never', 'gone']));
  expect(read).toEqual([
    { version: expect.any(String), value },
    { version: '' },
    { version: expect.any(String) },
  ]);
  const known = new Map(
    read.map(({ version }, at) => [['a', 'never', 'gone'][at] as string, version]),
  );
  expect(await store.invokeStrong(readVersions(['a', 'never'], known))).toEqual(
    read.slice(0, 2).map(({ version }) => ({ version })),
  );

  const reads = [...known].map(([key, version]) => ({ key, version }));
  const writes = [
    { key: 'a', value: undefined },
    { key: 'never', value: 1 },
  ];
  expect(await store.invoke(commit(reads, writes))).toEqual({ committed: true, changed: [] });
  expect(await store.invoke(commit(reads, writes))).toEqual({
    committed: false,
    changed: ['a', 'never'],
  });
  expect(await store.invokeStrong(getMany(['a', 'never', 'gone']))).toEqual([
    undefined,
    1,
    undefined,
  ]);
  await store.close();
  await server.close();
});
