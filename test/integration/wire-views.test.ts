/** Views over a real socket: one request in, all its views out. */
import { WebSocket } from 'ws';
import { expect, test } from 'vitest';
import { remote } from '../../src/bindings/remote/index.ts';
import { LEVELS, quietContext, RawClient, readX, SinkDouble, startGateway, writeX } from '../support/wire.ts';

const connectTo = (url: string) => remote({ url, levels: LEVELS, WebSocket });

test('views: one request → a preliminary and a final view', async () => {
  await using server = await startGateway();
  const store = connectTo(server.url);
  const sink = new SinkDouble();
  store.submitOperation(readX, ['weak', 'strong'], sink, quietContext());
  const { operation, levels, sink: given } = await server.store.next();
  expect(operation).toEqual(readX);
  expect(levels).toEqual(['weak', 'strong']);
  given.update('old', 'weak', { version: 1 });
  expect(await sink.call(0)).toEqual({ kind: 'update', value: 'old', level: 'weak', details: { version: 1 } });
  given.update('new', 'strong', { version: 2, meta: { remaining: 3 } });
  expect(await sink.call(1)).toEqual({
    kind: 'update',
    value: 'new',
    level: 'strong',
    details: { version: 2, meta: { remaining: 3 } },
  });
  await store.close();
  expect(server.store.submitted).toHaveLength(1);
});

test('views: final identical to the preliminary → a confirm without payload, on the wire too', async () => {
  await using server = await startGateway();
  await using client = new RawClient(server.url);
  await client.greet();
  client.send([1, 'submit', 'get', 'read', 3, { key: 'x' }]);
  const { sink } = await server.store.next();
  const value = { text: 'y'.repeat(1000) };
  sink.update(value, 'weak');
  expect(await client.row()).toEqual([1, 'view', 0, 0, value]);
  sink.update(structuredClone(value), 'strong');
  expect(await client.row()).toEqual([1, 'confirm', 1, 0]);
  expect(client.frames.at(-1)?.length).toBeLessThan(25);
});

test('views: value equal by the operation but not the same → sent in full', async () => {
  await using server = await startGateway();
  const store = connectTo(server.url);
  const sink = new SinkDouble();
  const operation = { ...writeX, equals: () => true };
  store.submitOperation(operation, ['weak', 'strong'], sink, quietContext());
  const { sink: given } = await server.store.next();
  given.update({ item: 1 }, 'weak');
  given.update({ item: 2 }, 'strong');
  expect(await sink.call(1)).toMatchObject({ kind: 'update', value: { item: 2 }, level: 'strong' });
  await store.close();
});
