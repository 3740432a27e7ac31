import { describe, expect, test } from 'vitest';
import {
  ClientTable,
  measureRecord,
} from '../../../../../src/server/gateway/clients/client-table.ts';
import type { RepeatableWrite } from '../../../../../src/server/gateway/clients/client-table.ts';
import {
  deriveLimits,
  fillLimits,
  type ByteBudget,
} from '../../../../../src/server/gateway/limits/limits.ts';

const submission = (id: number): RepeatableWrite & { id: number } => ({
  id,
  repeat: () => {},
  forget: () => 0,
});
const usual = deriveLimits(fillLimits(), true).budget;
const table = (budget: Partial<ByteBudget> = {}): ClientTable =>
  new ClientTable({ ...usual, ...budget });
const connection = { attempt: 1, onReplaced: () => {} };

test('acknowledged → forgotten up to that number, later ones kept', () => {
  const record = table().open('', 'c', 'json');
  for (const id of [1, 2, 3]) record.record(submission(id));
  record.acknowledge(2);
  expect([1, 2, 3].map((id) => record.find(id) !== undefined)).toEqual([false, false, true]);
  record.acknowledge(1);
  expect(record.acknowledged).toBe(2);
});

test('principals whose names run into the client id → kept apart', () => {
  const clients = table();
  expect(clients.open('a/b', 'c', 'json')).not.toBe(clients.open('a', 'b/c', 'json'));
  expect(clients.open('a', 'c', 'json')).toBe(clients.open('a', 'c', 'json'));
});

test('clients that are gone → kept for a while if they have replies, else forgotten at once', () => {
  const clients = table();
  const here = clients.open('', 'here', 'json');
  clients.onConnected(here, connection);
  const owed = clients.open('', 'owed', 'json');
  owed.record(submission(1));
  clients.onDisconnected(owed, 100);
  clients.onDisconnected(clients.open('', 'done', 'json'), 100);
  expect(clients.size).toBe(2);
  expect(clients.forgetGone(50)).toBe(0);
  expect(clients.forgetGone(101)).toBe(1);
  expect([clients.size, clients.bytes]).toEqual([1, measureRecord(here)]);
});

test('client that came back → not forgotten', () => {
  const clients = table();
  const record = clients.open('', 'c', 'json');
  record.record(submission(1));
  clients.onDisconnected(record, 100);
  clients.onConnected(clients.open('', 'c', 'json'), connection);
  expect(clients.forgetGone(1_000)).toBe(0);
  expect(record.find(1)).toBeDefined();
});

describe('memory', () => {
  test('the same for all new clients; another for each gateway', () => {
    const clients = table();
    expect(clients.open('', 'a', 'json').memory).toBe(clients.open('', 'b', 'json').memory);
    expect(clients.open('', 'a', 'json').memory).not.toBe(table().open('', 'a', 'json').memory);
  });

  test('something of a client was forgotten → another for clients that come later, the same for those known', () => {
    const clients = table();
    const known = clients.open('', 'known', 'json');
    const before = known.memory;
    const lost = clients.open('', 'lost', 'json');
    lost.record(submission(1));
    clients.onDisconnected(lost, 0);
    clients.forgetGone(1);
    expect(clients.open('', 'lost', 'json').memory).not.toBe(before);
    expect(clients.open('', 'known', 'json').memory).toBe(before);
  });

  test('a client of which nothing was kept is gone → the same: there was nothing to forget', () => {
    const clients = table();
    const record = clients.open('', 'c', 'json');
    const { memory } = record;
    clients.onDisconnected(record, 0);
    expect(clients.open('', 'c', 'json').memory).toBe(memory);
  });
});

describe('bytes', () => {
  test('of one client up to its bound, whatever the others have', () => {
    const clients = table({ client: 1_000 });
    const [a, b] = [clients.open('', 'a', 'json'), clients.open('', 'b', 'json')];
    expect([a.tryReserve(600), a.tryReserve(600), b.tryReserve(600), a.tryReserve(400)]).toEqual([
      true,
      false,
      true,
      true,
    ]);
    expect(clients.bytes).toBe(1_600 + measureRecord(a) + measureRecord(b));
    a.release(1_000);
    expect(a.tryReserve(600)).toBe(true);
  });

  test('of all beyond the bound → who has been gone for longest is forgotten, as many as it takes', () => {
    const forgotten: number[] = [];
    const clients = new ClientTable({ ...usual, total: 1_000_000 }, (count) =>
      forgotten.push(count),
    );
    const open = (name: string) => clients.open('', name, 'json');
    const [first, second, here] = [open('first'), open('second'), open('here')];
    for (const record of [second, first]) {
      record.record(submission(1));
      record.tryReserve(300_000);
    }
    clients.onDisconnected(first, 1);
    clients.onDisconnected(second, 2);
    const before = clients.bytes;
    const ofFirst = first.bytes + measureRecord(first);
    expect(here.tryReserve(250_000)).toBe(true);
    expect(forgotten).toEqual([1]);
    // What the forgotten one had is not given back twice.
    first.release(300_000);
    expect(clients.bytes).toBe(before - ofFirst + 250_000);
    expect(open('second')).toBe(second);
    expect(open('first')).not.toBe(first);
  });

  test('many who keep as much as they can, and are here → there is room for one of whom little is kept', () => {
    const clients = table({ total: 1_000_000, client: 200_000, share: 12_500 });
    for (let n = 0; n < 20; n++) {
      const greedy = clients.open('', `greedy ${n}`, 'json');
      while (greedy.tryReserve(1_000));
    }
    expect(clients.bytes).toBeLessThanOrEqual(1_000_000);
    expect(clients.open('', 'honest', 'json').tryReserve(10_000)).toBe(true);
  });

  test('no client is forgotten if a connected client asks for more than its share', () => {
    const clients = table({ total: 1_000_000 });
    const [gone, greedy] = [clients.open('', 'gone', 'json'), clients.open('', 'greedy', 'json')];
    gone.record(submission(1));
    gone.tryReserve(100_000);
    clients.onDisconnected(gone, 0);
    expect(greedy.tryReserve(800_000)).toBe(false);
    expect(clients.open('', 'gone', 'json')).toBe(gone);
  });

  test('clients that made one write each, and went → as many are remembered as there is room for', () => {
    const clients = table({ total: 1_000_000 });
    for (let n = 0; n < 2_000; n++) {
      const record = clients.open('', `visitor ${n}`, 'json');
      if (clients.findFullBudget(record, 1_000) === undefined) record.record(submission(1));
      clients.onDisconnected(record, n);
    }
    expect(clients.size).toBeLessThan(1_000);
    expect(clients.bytes).toBeLessThanOrEqual(1_000_000);
  });

  test('one that was forgotten asks for more → has none, and takes none from the others', () => {
    const clients = table();
    const record = clients.open('', 'c', 'json');
    record.record(submission(1));
    clients.onDisconnected(record, 0);
    clients.forgetGone(1);
    expect([record.tryReserve(100), clients.bytes]).toEqual([false, 0]);
  });

  test('numbers far from each other → cost more than those in a row', () => {
    const clients = table();
    const [dense, sparse] = [clients.open('', 'dense', 'json'), clients.open('', 'sparse', 'json')];
    for (let n = 1; n <= 320; n++) {
      dense.record(submission(n));
      sparse.record(submission(n * 1_000));
    }
    expect(sparse.bytes).toBeGreaterThan(2 * dense.bytes);
    sparse.acknowledge(1e9);
    expect(sparse.bytes).toBe(0);
  });
});

describe('limits', () => {
  test.each([
    ['maxInFlight', 0],
    ['maxInFlight', Number.NaN],
    ['maxInFlight', 1.5],
    ['heartbeatIntervalMs', -1],
    ['maxFrameBytes', Infinity],
    ['maxMemoryBytes', 0.5],
    ['maxMemoryBytes', '5'],
    ['inflightMax', 5],
  ])('%s: %s → INVALID_ARGUMENT naming it', (name, value) => {
    const expected = expect.objectContaining({
      code: 'INVALID_ARGUMENT',
      field: `limits.${name}`,
    }) as Error;
    expect(() => fillLimits({ [name]: value })).toThrow(expected);
  });

  test.each([null, 5, 'none', true, [[]], () => {}])(
    '%j for all of them → INVALID_ARGUMENT',
    (limits) => {
      const expected = expect.objectContaining({
        code: 'INVALID_ARGUMENT',
        field: 'limits',
      }) as Error;
      expect(() => fillLimits(limits as object)).toThrow(expected);
    },
  );

  test('Infinity → none, wherever that makes sense; undefined → the default', () => {
    const names = Object.keys(fillLimits()).filter((name) => name !== 'maxFrameBytes');
    for (const name of names)
      expect(fillLimits({ [name]: Infinity })).toMatchObject({ [name]: Infinity });
    expect(fillLimits({ maxInFlight: undefined } as object)).toEqual(fillLimits());
  });

  test.each([
    [true, { client: 100_000, principal: 200_000, total: 400_000, share: 10_000 }, 5],
    [false, { client: 100_000, principal: 400_000, total: 400_000, share: 10_000 }, Infinity],
  ])(
    'clients with principals: %s → the derived limits follow',
    (hasPrincipals, budget, maxConnectionsPerPrincipal) => {
      const bounds = deriveLimits(
        fillLimits({ maxMemoryBytes: 800_000, maxConnections: 10 }),
        hasPrincipals,
      );
      expect(bounds).toMatchObject({
        budget,
        maxConnectionsPerPrincipal: maxConnectionsPerPrincipal,
        maxSendBufferBytes: 2 ** 21,
      });
    },
  );
});
