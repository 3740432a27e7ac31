import { describe, expect, test } from 'vitest';
import { ENTRY_BYTES } from '../../../src/server/gateway/client-record.ts';
import { ClientTable } from '../../../src/server/gateway/client-table.ts';
import { limitsFrom, type GatewayLimits } from '../../../src/server/gateway/limits.ts';
import type { Submission } from '../../../src/server/gateway/submission.ts';

const submission = (id: number): Submission => ({ id, forget: () => {} }) as unknown as Submission;
const table = (bounds: Partial<GatewayLimits> = {}): ClientTable => new ClientTable(limitsFrom(bounds));
const connection = { attempt: 1, replaced: () => {} };

test('acknowledged → forgotten up to that number, later ones kept', () => {
  const record = table().open('', 'c', 'json');
  for (const id of [1, 2, 3]) record.record(submission(id));
  record.acknowledge(2);
  expect([1, 2, 3].map((id) => record.find(id) !== undefined)).toEqual([false, false, true]);
  record.acknowledge(1);
  expect(record.acked).toBe(2);
});

test('principals whose names run into the client id → kept apart', () => {
  const clients = table();
  expect(clients.open('a/b', 'c', 'json')).not.toBe(clients.open('a', 'b/c', 'json'));
  expect(clients.open('a', 'c', 'json')).toBe(clients.open('a', 'c', 'json'));
});

test('clients that are gone → kept for a while if they have replies, else forgotten at once', () => {
  const clients = table();
  clients.came(clients.open('', 'here', 'json'), connection);
  const owed = clients.open('', 'owed', 'json');
  owed.record(submission(1));
  clients.left(owed, 100);
  clients.left(clients.open('', 'done', 'json'), 100);
  expect(clients.size).toBe(2);
  expect(clients.forgetGone(50)).toBe(0);
  expect(clients.forgetGone(101)).toBe(1);
  expect([clients.size, clients.bytes]).toEqual([1, 0]);
});

test('client that came back → not forgotten', () => {
  const clients = table();
  const record = clients.open('', 'c', 'json');
  record.record(submission(1));
  clients.left(record, 100);
  clients.came(clients.open('', 'c', 'json'), connection);
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
    clients.left(lost, 0);
    clients.forgetGone(1);
    expect(clients.open('', 'lost', 'json').memory).not.toBe(before);
    expect(clients.open('', 'known', 'json').memory).toBe(before);
  });

  test('a client of which nothing was kept is gone → the same: there was nothing to forget', () => {
    const clients = table();
    const record = clients.open('', 'c', 'json');
    const { memory } = record;
    clients.left(record, 0);
    expect(clients.open('', 'c', 'json').memory).toBe(memory);
  });
});

describe('bytes', () => {
  test('of one client up to its bound, whatever the others have', () => {
    const clients = table({ repliesBytesMax: 1_000 });
    const [a, b] = [clients.open('', 'a', 'json'), clients.open('', 'b', 'json')];
    expect([a.take(600), a.take(600), b.take(600), a.take(400)]).toEqual([true, false, true, true]);
    expect(clients.bytes).toBe(1_600);
    a.give(1_000);
    expect(a.take(600)).toBe(true);
  });

  test('of all beyond the bound → who has been gone for longest is forgotten, as many as it takes', () => {
    const forgotten: number[] = [];
    const clients = new ClientTable(limitsFrom({ repliesBytesTotalMax: 3_000 }), (count) => forgotten.push(count));
    const [first, second, here] = ['first', 'second', 'here'].map((name) => clients.open('', name, 'json'));
    for (const record of [second, first]) {
      record?.record(submission(1));
      record?.take(800);
    }
    if (first !== undefined) clients.left(first, 1);
    if (second !== undefined) clients.left(second, 2);
    expect(here?.take(1_500)).toBe(true);
    expect(forgotten).toEqual([1]);
    expect(clients.open('', 'first', 'json')).not.toBe(first);
    expect(clients.open('', 'second', 'json')).toBe(second);
    // What the forgotten one had is not given back twice.
    first?.give(800);
    expect(clients.bytes).toBe(1_500 + 800 + ENTRY_BYTES);
  });

  test('of all beyond the bound and everybody is here → no room', () => {
    const clients = table({ repliesBytesTotalMax: 1_000 });
    const record = clients.open('', 'a', 'json');
    expect([record.take(1_000), record.take(1)]).toEqual([true, false]);
  });
});

describe('limits', () => {
  test.each([
    ['inFlightMax', 0],
    ['inFlightMax', Number.NaN],
    ['inFlightMax', 1.5],
    ['heartbeatMs', -1],
    ['frameBytesMax', Infinity],
    ['repliesBytesMax', '5'],
    ['inflightMax', 5],
  ])('%s: %s → INVALID_ARGUMENT naming it', (name, value) => {
    const expected = expect.objectContaining({ code: 'INVALID_ARGUMENT', field: `limits.${name}` }) as Error;
    expect(() => limitsFrom({ [name]: value })).toThrow(expected);
  });

  test.each([null, 5, 'none', true, [[]], () => {}])('%j for all of them → INVALID_ARGUMENT', (limits) => {
    const expected = expect.objectContaining({ code: 'INVALID_ARGUMENT', field: 'limits' }) as Error;
    expect(() => limitsFrom(limits as object)).toThrow(expected);
  });

  test('Infinity → none, wherever that makes sense; undefined → the default', () => {
    const names = Object.keys(limitsFrom()).filter((name) => name !== 'frameBytesMax');
    for (const name of names) expect(limitsFrom({ [name]: Infinity })).toMatchObject({ [name]: Infinity });
    expect(limitsFrom({ inFlightMax: undefined } as object)).toEqual(limitsFrom());
  });
});
