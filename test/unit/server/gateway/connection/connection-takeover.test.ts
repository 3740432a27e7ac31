/** Connections of one client that meet, and what is admitted, kept and confirmed on the way. */
import { describe, expect, test } from 'vitest';
import { CorrectableError } from '../../../../../src/correctable/errors.ts';
import { msgpackCodec } from '../../../../../src/protocol/codec/msgpack-codec.ts';
import { BOUNDLESS, RawClient, startGateway, StoreDouble } from '../../../../support/wire.ts';

const READ = ['get', 'read', 2, { key: 'x' }];
const UPDATE = ['put', 'write', 2, { key: 'x' }];

describe('replies that are kept, to the end', () => {
  test('writes whose admission takes time → count as replies', async () => {
    let allow = (_allowed: boolean): void => {};
    const allowed = new Promise<boolean>((resolve) => (allow = resolve));
    await using server = await startGateway({
      bounds: { budget: { ...BOUNDLESS, client: 1_200 } },
      authorize: () => allowed,
    });
    server.store.answer = ({ sink }) => sink.view(null, 'strong');
    await using client = await RawClient.greeted(server.url);
    client.send([1, 'submit', ...UPDATE], [2, 'submit', ...UPDATE], [3, 'submit', ...UPDATE]);
    expect((await client.row()).slice(0, 3)).toEqual([3, 'fail', 'OVERLOADED']);
    allow(true);
    await client.row();
  });
});

describe('one connection', () => {
  // Nothing of a frame is served once it has closed its connection
  test('closed by a row in the middle of a frame → the rest of the frame is not executed', async () => {
    await using server = await startGateway({ bounds: { maxMalformedMessages: 1 } });
    await using client = await RawClient.greeted(server.url);
    client.send([1, 'submit', ...UPDATE], ['nonsense'], [2, 'submit', ...UPDATE]);
    await client.closed;
    expect(server.store.submitted).toHaveLength(1);
    expect(server.gateway.status()).toMatchObject({ replies: 1 });
  });

  test('the same attempt again → replaced itself; the older connection stays', async () => {
    await using server = await startGateway();
    await using first = await RawClient.greeted(server.url);
    await using second = new RawClient(server.url);
    await second.opened();
    second.send([0, 'hello', RawClient.hello()]);
    expect((await second.closed).code).toBe(4409);
    first.send([1, 'ping']);
    expect(await first.row()).toEqual([1, 'pong']);
  });

  test('the client comes back in another codec → refused: its replies are in the first one', async () => {
    await using server = await startGateway();
    server.store.answer = ({ sink }) => sink.view({ a: 1 }, 'strong');
    await using first = new RawClient(server.url, { subprotocol: 'correctables.v1+json' });
    await first.greet();
    first.send([1, 'submit', ...UPDATE]);
    await first.row();
    first.socket.close();
    await first.closed;
    await expect.poll(() => server.gateway.status().connections).toBe(0);
    await using second = new RawClient(server.url, { subprotocol: 'correctables.v1+msgpack' });
    await second.opened();
    second.socket.send(
      msgpackCodec.frame([
        msgpackCodec.encodeMessage([0, 'hello', { ...RawClient.hello(), attempt: 2 }]),
      ]) as Uint8Array,
    );
    expect((await second.closed).code).toBe(4409);
  });

  test('renewed → what authorize is given is the fresh principal', async () => {
    const seen: unknown[] = [];
    await using server = await startGateway({
      authenticate: (token) => {
        const known = {
          id: 'ann',
          expiresAt: Date.now() + (token === 'late' ? 60_000 : 30_000),
          role: token,
        };
        return known;
      },
      authorize: (principal) => seen.push((principal as unknown as { role: string }).role) > 0,
    });
    server.store.answer = ({ sink }) => sink.view(null, 'strong');
    await using client = await RawClient.greeted(server.url, { token: 'early' });
    client.send([0, 'renew', 'late']);
    await client.row();
    client.send([1, 'submit', ...READ]);
    await client.row();
    expect(seen).toEqual(['late']);
  });

  test('closed while it is authenticated → nothing is kept of it, and it takes nothing over', async () => {
    let admit = (): void => {};
    const admitted = new Promise<void>((resolve) => (admit = resolve));
    await using server = await startGateway({
      authenticate: async (token) => {
        if (token === 'slow') await admitted;
        return { id: 'ann' };
      },
    });
    await using first = await RawClient.greeted(server.url, { token: 'quick' });
    const second = new RawClient(server.url);
    await second.opened();
    second.send([0, 'hello', { ...RawClient.hello(), attempt: 2, token: 'slow' }]);
    await new Promise((resolve) => setTimeout(resolve, 20));
    second.socket.terminate();
    await expect.poll(() => server.gateway.status().connections).toBe(1);
    admit();
    await new Promise(setImmediate);
    first.send([1, 'ping']);
    expect(await first.row()).toEqual([1, 'pong']);
    first.socket.close();
    await first.closed;
    await expect.poll(() => server.gateway.status().clients).toBe(0);
  });

  test('read in flight, the connection goes → its signal aborts', async () => {
    await using server = await startGateway();
    await using client = await RawClient.greeted(server.url);
    client.send([1, 'submit', ...READ]);
    const { context } = await server.store.next();
    client.socket.terminate();
    await expect.poll(() => context.signal.aborted).toBe(true);
  });

  test('an older connection that was replaced closes late → the client has not left', async () => {
    await using server = await startGateway({ bounds: { clientIdleMs: 20 } });
    server.store.answer = ({ sink }) => sink.view(null, 'strong');
    await using first = await RawClient.greeted(server.url);
    await using second = await RawClient.greeted(server.url, { attempt: 2 });
    await first.closed;
    second.send([1, 'submit', ...UPDATE]);
    await second.row();
    await new Promise((resolve) => setTimeout(resolve, 120));
    second.send([1, 'submit', ...UPDATE]);
    await second.row();
    expect(server.store.submitted).toHaveLength(1);
    expect(server.gateway.status()).toMatchObject({ clients: 1, replies: 1 });
  });
});

test('a write that has moved here replaces the earlier one → if the earlier one fails, only the later one gets the failure', async () => {
  const store = new StoreDouble();
  store.isExactlyOnce = true;
  await using server = await startGateway({ store, site: 'here' });
  await using client = await RawClient.greeted(server.url);
  client.send([1, 'submit', ...UPDATE]);
  const early = await store.next();
  client.send([1, 'submit', ...UPDATE, null, null, null, null, ['here', 2]]);
  const late = await store.next();
  early.sink.fail(new CorrectableError('UNAVAILABLE', 'superseded'));
  late.sink.view('done', 'strong');
  client.send([1, 'ping']);
  expect(await client.row()).toMatchObject([1, 'view', 1, 0, 'done']);
  expect(await client.row()).toEqual([1, 'pong']);
});

const memoryIn = (welcome: readonly unknown[]): unknown =>
  (welcome[2] as { memoryId: string }).memoryId;

describe('store that executes each write once', () => {
  test('repetition on the next connection → answered by the store; nothing is kept here', async () => {
    const store = new StoreDouble();
    store.isExactlyOnce = true;
    await using server = await startGateway({ store });
    await using client = new RawClient(server.url);
    const first = await client.greet({ attempt: 1 });
    client.send([1, 'submit', ...UPDATE]);
    (await store.next()).sink.view('done', 'strong');
    expect(await client.row()).toEqual([1, 'view', 1, 0, 'done']);
    expect(server.gateway.status().replies).toBe(0);
    await using again = new RawClient(server.url);
    expect(memoryIn(await again.greet({ attempt: 2 }))).not.toBe(memoryIn(first));
    again.send([1, 'submit', ...UPDATE]);
    const { sink, context } = await store.next();
    expect(context.origin).toMatchObject({ sequence: 1 });
    sink.view('done', 'strong');
    expect(await again.row()).toEqual([1, 'view', 1, 0, 'done']);
  });

  test('connection lost in flight → the write is not aborted', async () => {
    const store = new StoreDouble();
    store.isExactlyOnce = true;
    await using server = await startGateway({ store });
    await using client = await RawClient.greeted(server.url, { attempt: 1 });
    client.send([1, 'submit', ...UPDATE]);
    const { context } = await store.next();
    await using _newer = await RawClient.greeted(server.url, { attempt: 2 });
    expect(context.signal.aborted).toBe(false);
  });
});
