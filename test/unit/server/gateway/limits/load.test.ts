/** How much a client may have under way, whatever it does: cancel, leave, send large frames, or let `authorise` wait. */
import { describe, expect, test } from 'vitest';
import type { Authorise } from '../../../../../src/server/gateway/host/host.ts';
import { RawClient, startGateway, StoreDouble, type RunningGateway } from '../../../../support/wire.ts';
import { greetAt } from '../listen/socket-by-hand.ts';

const READ = ['get', 'read', 2, { key: 'x' }];
const UPDATE = ['put', 'update', 2, { key: 'x' }];

const inFlight = ({ gateway }: RunningGateway): number => gateway.status().inFlight;

/** The answer to a submission: what it failed with, or the kind of the row. */
async function answer(client: RawClient): Promise<unknown> {
  const row = await client.row();
  return row[1] === 'fail' ? row[2] : row[1];
}

async function ponged(client: RawClient): Promise<void> {
  client.send([9999, 'ping']);
  expect(await client.row()).toEqual([9999, 'pong']);
}

describe('operations under way', () => {
  test('cancelled again and again → count until the store has ended them', async () => {
    await using server = await startGateway({ limits: { inFlightMax: 2 } });
    await using client = new RawClient(server.url);
    await client.greet();
    for (const id of [1, 2, 3]) client.send([id, 'submit', ...READ], [id, 'cancel']);
    expect(await answer(client)).toBe('OVERLOADED');
    expect([inFlight(server), server.store.submitted.length]).toEqual([2, 2]);
    server.store.submitted[0]?.sink.update('v', 'strong');
    expect(inFlight(server)).toBe(1);
    client.send([4, 'submit', ...READ]);
    await ponged(client);
    expect(server.store.submitted).toHaveLength(3);
  });

  test('cancelled while they wait to be allowed → count until that is decided', async () => {
    const decisions: ((allowed: boolean) => void)[] = [];
    const authorise: Authorise = () => new Promise((resolve) => decisions.push(resolve));
    await using server = await startGateway({ authorise, limits: { inFlightMax: 2 } });
    await using client = new RawClient(server.url);
    await client.greet();
    for (const id of [1, 2, 3]) client.send([id, 'submit', ...READ], [id, 'cancel']);
    expect([await answer(client), await answer(client), await answer(client)]).toEqual([
      'ABORTED',
      'ABORTED',
      'OVERLOADED',
    ]);
    expect(inFlight(server)).toBe(2);
    decisions[1]?.(true);
    decisions[0]?.(false);
    await expect.poll(() => inFlight(server)).toBe(0);
    expect(server.store.submitted).toHaveLength(0);
  });

  test('decided but waiting for its turn, then cancelled → does not count any more', async () => {
    const authorise: Authorise = (_, { effect }) => (effect === 'read' ? true : new Promise(() => {}));
    await using server = await startGateway({ authorise });
    await using client = new RawClient(server.url);
    await client.greet();
    client.send([1, 'submit', ...UPDATE], [2, 'submit', ...READ]);
    await ponged(client);
    client.send([2, 'cancel']);
    expect(await answer(client)).toBe('ABORTED');
    expect(inFlight(server)).toBe(1);
  });

  /** Clients that came, had each so many operations begun, and went. */
  async function leaveBehind(server: RunningGateway, visits: number, each: number): Promise<void> {
    for (let visit = 1; visit <= visits; visit++) {
      await using visitor = new RawClient(server.url);
      await visitor.greet({ client: String(visit).padEnd(32, 'v') });
      visitor.send(...Array.from({ length: each }, (_, n) => [n + 1, 'submit', ...READ]));
      await ponged(visitor);
    }
    await expect.poll(() => server.gateway.status().connections).toBe(0);
    expect(inFlight(server)).toBe(visits * each);
  }

  /** Submits operations in one frame, tells how many of them were refused, and has the store end the others. */
  async function burst(server: RunningGateway, client: RawClient, from: number, count: number): Promise<number> {
    const before = server.store.submitted.length;
    client.send(...Array.from({ length: count }, (_, n) => [from + n, 'submit', ...READ]), [9999, 'ping']);
    let refused = 0;
    for (let row = await client.row(); row[1] !== 'pong'; row = await client.row()) {
      expect(row.slice(1, 4)).toEqual([
        'fail',
        'OVERLOADED',
        'the store is busy with operations of clients that are gone; nothing was done: wait for an answer before the next one',
      ]);
      refused += 1;
    }
    for (const { sink } of server.store.submitted.slice(before)) sink.update('v', 'strong');
    for (let n = refused; n < count; n++) expect(await answer(client)).toBe('view');
    return refused;
  }

  test('of clients that came and went → who is here keeps a part of what it may have, again and again', async () => {
    await using server = await startGateway({ limits: { inFlightMax: 64 } });
    await leaveBehind(server, 4, 64);
    await using client = new RawClient(server.url);
    await client.greet();
    for (let round = 0; round < 3; round++) expect(await burst(server, client, 1 + round * 10, 4)).toBe(0);
    expect(await burst(server, client, 100, 7)).toBe(3);
  });

  test('of many that came only to leave more → who is here may have as much as it has seen end, up to its part', async () => {
    await using server = await startGateway({ limits: { inFlightMax: 64 } });
    await leaveBehind(server, 4, 64);
    // Each leaves no more than its part.
    for (let n = 0; inFlight(server) < 8 * 64; n++) {
      const visitor = await greetAt(server.gateway, { client: String(n).padEnd(32, 'w') });
      visitor.say(...Array.from({ length: 4 }, (_, id) => [id + 1, 'submit', ...READ]));
      visitor.events.closed();
    }
    await using client = new RawClient(server.url);
    await client.greet();
    const refused: number[] = [];
    for (let round = 0; round < 4; round++) refused.push(await burst(server, client, 1 + round * 10, 8));
    // One, one, two and four are begun.
    expect(refused).toEqual([7, 7, 6, 4]);
  });

  test('of a client that comes back → count on its new connection', async () => {
    await using server = await startGateway({ limits: { inFlightMax: 1 } });
    await using first = new RawClient(server.url);
    await first.greet();
    first.send([1, 'submit', ...UPDATE]);
    await ponged(first);
    await using second = new RawClient(server.url);
    await second.greet({ attempt: 2 });
    second.send([1, 'submit', ...UPDATE], [2, 'submit', ...UPDATE]);
    expect((await second.row()).slice(0, 3)).toEqual([2, 'fail', 'OVERLOADED']);
    expect(inFlight(server)).toBe(1);
    server.store.submitted[0]?.sink.update('v', 'strong');
    expect(await answer(second)).toBe('view');
    expect(inFlight(server)).toBe(0);
  });
});

describe('bytes of operations under way', () => {
  const large = (id: number): unknown[] => [id, 'submit', 'put', 'update', 2, 'x'.repeat(4_000)];
  const limits = { inFlightBytesMax: 10_000 };

  test('in the store, or waiting to be allowed → beyond the bound OVERLOADED, whoever has them', async () => {
    const authorise: Authorise = () => new Promise(() => {});
    for (const waits of [false, true]) {
      await using server = await startGateway(waits ? { authorise, limits } : { limits });
      await using client = new RawClient(server.url);
      await client.greet();
      for (const id of [1, 2, 3]) client.send(large(id));
      expect(await answer(client)).toBe('OVERLOADED');
      expect(inFlight(server)).toBe(2);
    }
  });

  test('much was left by others → who is here keeps a part of the bytes', async () => {
    await using server = await startGateway({ limits: { inFlightBytesMax: 64_000 } });
    for (let visit = 1; visit <= 5; visit++) {
      await using visitor = new RawClient(server.url);
      await visitor.greet({ client: String(visit).repeat(32) });
      for (let id = 1; id <= 15; id++) visitor.send(large(id));
      visitor.send([16, 'submit', 'put', 'update', 2, 'x'.repeat(3_000)]);
      await ponged(visitor);
    }
    await expect.poll(() => server.gateway.status().connections).toBe(0);
    await using client = new RawClient(server.url);
    await client.greet();
    for (const id of [1, 2, 3]) client.send([id, 'submit', ...READ]);
    await ponged(client);
    client.send(large(4));
    expect(await answer(client)).toBe('OVERLOADED');
  });

  test('a frame counts until the last of its operations has ended', async () => {
    const store = new StoreDouble();
    await using server = await startGateway({ store, limits });
    await using client = new RawClient(server.url);
    await client.greet();
    client.send(large(1), [2, 'submit', ...READ]);
    client.send(large(3), [4, 'submit', ...READ]);
    await ponged(client);
    store.submitted[0]?.sink.update('v', 'strong');
    expect(await answer(client)).toBe('view');
    client.send(large(5));
    expect(await answer(client)).toBe('OVERLOADED');
    store.submitted[1]?.sink.update('v', 'strong');
    expect(await answer(client)).toBe('view');
    client.send(large(6));
    await ponged(client);
    expect(inFlight(server)).toBe(3);
  });
});

describe('trace', () => {
  test.each([
    ['text', 'x'.repeat(4_096), true],
    ['text', 'x'.repeat(4_097), false],
    ['an object', { parent: 'x'.repeat(1_000) }, true],
    ['an object', { parent: 'x'.repeat(5_000) }, false],
    ['a list', Array.from({ length: 3_000 }, () => 1), false],
    ['a number', 7, true],
  ])('%s → refused beyond 4 KiB', async (_, trace, isAllowed) => {
    await using server = await startGateway();
    server.store.answer = ({ sink, context }) => sink.update(context.trace, 'strong');
    await using client = new RawClient(server.url);
    await client.greet();
    client.send([1, 'submit', ...READ, null, null, trace]);
    const row = await client.row();
    if (isAllowed) expect(row).toEqual([1, 'view', 1, 0, trace]);
    else expect([row[2], row[5]]).toEqual(['INVALID_ARGUMENT', { retryable: false, field: 'trace' }]);
  });
});
