/**
 * How much a client may have under way, whatever it does: cancel, leave, send large frames, or let
 * `authorize` wait.
 */
import { describe, expect, test } from 'vitest';
import type { Authorize } from '../../../../../src/server/gateway/context/gateway-context.ts';
import {
  BOUNDLESS,
  RawClient,
  startGateway,
  StoreDouble,
  type RunningGateway,
} from '../../../../support/wire.ts';

const READ = ['get', 'read', 2, { key: 'x' }];
const UPDATE = ['put', 'write', 2, { key: 'x' }];

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

describe('operations in flight', () => {
  test('cancelled again and again → count until the store has ended them', async () => {
    await using server = await startGateway({ limits: { maxInFlight: 2 } });
    await using client = await RawClient.greeted(server.url);
    for (const id of [1, 2, 3]) client.send([id, 'submit', ...READ], [id, 'cancel']);
    expect(await answer(client)).toBe('OVERLOADED');
    expect([inFlight(server), server.store.submitted.length]).toEqual([2, 2]);
    server.store.submitted[0]?.sink.view('v', 'strong');
    expect(inFlight(server)).toBe(1);
    client.send([4, 'submit', ...READ]);
    await ponged(client);
    expect(server.store.submitted).toHaveLength(3);
  });

  test('cancelled while they wait to be allowed → count until that is decided', async () => {
    const decisions: ((allowed: boolean) => void)[] = [];
    const authorize: Authorize = () => new Promise((resolve) => decisions.push(resolve));
    await using server = await startGateway({ authorize, limits: { maxInFlight: 2 } });
    await using client = await RawClient.greeted(server.url);
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
    const authorize: Authorize = (_, { access }) =>
      access === 'read' ? true : new Promise(() => {});
    await using server = await startGateway({ authorize });
    await using client = await RawClient.greeted(server.url);
    client.send([1, 'submit', ...UPDATE], [2, 'submit', ...READ]);
    await ponged(client);
    client.send([2, 'cancel']);
    expect(await answer(client)).toBe('ABORTED');
    expect(inFlight(server)).toBe(1);
  });

  test('refused once it was decided → does not count', async () => {
    await using server = await startGateway({ authorize: async () => false });
    await using client = await RawClient.greeted(server.url);
    client.send([1, 'submit', ...READ]);
    expect(await answer(client)).toBe('FORBIDDEN');
    expect(inFlight(server)).toBe(0);
  });

  test('of a client that comes back → count on its new connection', async () => {
    await using server = await startGateway({ limits: { maxInFlight: 1 } });
    await using first = await RawClient.greeted(server.url);
    first.send([1, 'submit', ...UPDATE]);
    await ponged(first);
    await using second = await RawClient.greeted(server.url, { attempt: 2 });
    second.send([1, 'submit', ...UPDATE], [2, 'submit', ...UPDATE]);
    expect((await second.row()).slice(0, 3)).toEqual([2, 'fail', 'OVERLOADED']);
    expect(inFlight(server)).toBe(1);
    server.store.submitted[0]?.sink.view('v', 'strong');
    expect(await answer(second)).toBe('view');
    expect(inFlight(server)).toBe(0);
  });
});

describe('bytes of operations in flight', () => {
  const large = (id: number): unknown[] => [id, 'submit', 'put', 'write', 2, 'x'.repeat(4_000)];
  const bounds = { budget: { ...BOUNDLESS, client: 12_500 } };

  test('counts operations in the store and in admission, of all clients → OVERLOADED above the limit', async () => {
    const authorize: Authorize = () => new Promise(() => {});
    for (const waits of [false, true]) {
      await using server = await startGateway(waits ? { authorize, bounds } : { bounds });
      await using client = await RawClient.greeted(server.url);
      for (const id of [1, 2, 3]) client.send(large(id));
      expect(await answer(client)).toBe('OVERLOADED');
      expect(inFlight(server)).toBe(2);
    }
  });

  test('a frame counts until the last of its operations has ended', async () => {
    const store = new StoreDouble();
    await using server = await startGateway({ store, bounds });
    await using client = await RawClient.greeted(server.url);
    client.send(large(1), [2, 'submit', ...READ]);
    client.send(large(3), [4, 'submit', ...READ]);
    await ponged(client);
    store.submitted[0]?.sink.view('v', 'strong');
    expect(await answer(client)).toBe('view');
    client.send(large(5));
    expect(await answer(client)).toBe('OVERLOADED');
    store.submitted[1]?.sink.view('v', 'strong');
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
    server.store.answer = ({ sink, context }) => sink.view(context.trace, 'strong');
    await using client = await RawClient.greeted(server.url);
    client.send([1, 'submit', ...READ, null, null, trace]);
    const row = await client.row();
    if (isAllowed) expect(row).toEqual([1, 'view', 1, 0, trace]);
    else
      expect([row[2], row[5]]).toEqual(['INVALID_ARGUMENT', { retryable: false, field: 'trace' }]);
  });
});
