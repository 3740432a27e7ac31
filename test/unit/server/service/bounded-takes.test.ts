/** What operations take of bounded fields: each field of each row once, and nothing else. */
import { expect, test } from 'vitest';
import type { Effect } from '../../../../src/server/service/records/effect.ts';
import { sumTakes } from '../../../../src/server/service/bounded-takes.ts';
import { boundedCounter, stock, table } from '../../../../src/server/service/tables.ts';

const tables = {
  events: table({
    seats: boundedCounter({ min: 0 }),
    coats: boundedCounter({ min: 0 }),
    left: stock(),
  }),
};

const effect = (key: string, field: string, action: string, value: unknown): Effect => {
  return { table: 'events', key, field, action, value };
};

test('takes of two rows, of two fields, and twice of one → each field of each row, with all that is taken of it', () => {
  const effects = [
    effect('a', 'seats', 'take', 1),
    effect('b', 'seats', 'take', 2),
    effect('a', 'coats', 'take', 3),
    effect('a', 'seats', 'take', 4),
    effect('a', 'seats', 'give', 5),
    effect('a', 'left', 'take', { amount: 6, atLeast: 0 }),
  ];
  const needs = sumTakes(tables, effects).map(
    ({ key, field, amount }) => `${key}.${field} ${amount}`,
  );
  expect(needs.toSorted()).toEqual(['a.coats 3', 'a.seats 5', 'b.seats 2']);
});
