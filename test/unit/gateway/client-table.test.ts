import { expect, test } from 'vitest';
import { ClientTable } from '../../../src/server/gateway/client-table.ts';
import { limitsFrom } from '../../../src/server/gateway/limits.ts';
import type { Submission } from '../../../src/server/gateway/submission.ts';

const submission = (id: number): Submission => ({ id }) as Submission;

test('acknowledged → forgotten up to that number, later ones kept', () => {
  const record = new ClientTable().open('', 'c', 'json');
  for (const id of [1, 2, 3]) record.record(submission(id));
  record.acknowledge(2);
  expect([1, 2, 3].map((id) => record.find(id) !== undefined)).toEqual([false, false, true]);
  record.acknowledge(1);
  expect(record.acked).toBe(2);
});

test('principals whose names run into the client id → kept apart', () => {
  const table = new ClientTable();
  expect(table.open('a/b', 'c', 'json')).not.toBe(table.open('a', 'b/c', 'json'));
  expect(table.open('a', 'c', 'json')).toBe(table.open('a', 'c', 'json'));
});

test('clients that are gone → kept for a while if they have replies, else forgotten', () => {
  const table = new ClientTable();
  const here = table.open('', 'here', 'json');
  here.connection = { attempt: 1, replaced: () => {} };
  const owed = table.open('', 'owed', 'json');
  owed.record(submission(1));
  owed.goneAt = 100;
  table.open('', 'done', 'json');
  expect(table.forgetGone(50)).toBe(0);
  expect(table.size).toBe(2);
  expect(table.forgetGone(101)).toBe(1);
  expect(table.size).toBe(1);
});

test('limit that is no positive number → INVALID_ARGUMENT naming it', () => {
  const expected = expect.objectContaining({ code: 'INVALID_ARGUMENT', field: 'limits.inFlightMax' }) as Error;
  expect(() => limitsFrom({ inFlightMax: 0 })).toThrow(expected);
  expect(() => limitsFrom({ inFlightMax: Number.NaN })).toThrow(expected);
});
