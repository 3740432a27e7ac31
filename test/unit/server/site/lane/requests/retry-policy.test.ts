/**
 * Whether what the red order rejects is executed again: as often as any operation, or for as long
 * as a take may wait.
 */
import { expect, test } from 'vitest';
import { toFieldName } from '../../../../../../src/server/service/generator/read-set.ts';
import type { Effect } from '../../../../../../src/server/service/records/effect.ts';
import type { Conflict } from '../../../../../../src/server/service/records/certification-result.ts';
import type { RedOperation } from '../../../../../../src/server/service/records/records.ts';
import { shouldRetry } from '../../../../../../src/server/site/lane/requests/retry-policy.ts';
import type { Service } from '../../../../../../src/server/service/service.ts';
import { boundedCounter, counter, table } from '../../../../../../src/server/service/tables.ts';

const ATTEMPTS_MAX = 3;
const REACH_MS = 100;

const service = {
  tables: {
    events: table({
      seats: boundedCounter({ min: 0 }),
      coats: boundedCounter({ min: 0 }),
      sold: counter(),
    }),
  },
} as unknown as Service;

const effect = (field: string, action: string, value = 1): Effect => ({
  table: 'events',
  key: 'E',
  field,
  action,
  value,
});
const takesSeats = [effect('sold', 'add'), effect('seats', 'take')];

function isTriedAgain(
  effects: readonly Effect[],
  names: readonly string[],
  attempt = ATTEMPTS_MAX,
  sinceMs = 0,
): boolean {
  const [name = '', ...others] = names.map((field) => toFieldName('events', 'E', field));
  const conflict: Conflict =
    others.length === 0 ? { reason: 'name', name } : { reason: 'name', name, others };
  const record = { kind: 'operation', effects } as unknown as RedOperation;
  const options = { maxAttempts: ATTEMPTS_MAX, reachTimeoutMs: REACH_MS, service };
  const request = {
    attempt,
    uncountedRejections: 0,
    conflict: undefined,
    rejectedAtMs: 500,
    heldAtMs: undefined,
    record,
  };
  return shouldRetry(
    { options, nowMs: 500 + sinceMs } as Parameters<typeof shouldRetry>[0],
    request,
    conflict,
  );
}

test.each([
  ['takes what others have taken', takesSeats, ['seats'], true],
  ['reads first what they have changed too', takesSeats, ['sold', 'seats'], true],
  ['reads what they have changed, and takes what they have not', takesSeats, ['sold'], false],
  [
    'reads what others have taken, and takes something else',
    [effect('coats', 'take')],
    ['seats'],
    false,
  ],
  ['reads what others have taken, and gives', [effect('seats', 'give')], ['seats'], false],
  ['reads it, and chooses nothing', [], ['seats'], false],
])('%s → for as long as it may wait: %#', (_what, effects, names, isLong) => {
  expect(isTriedAgain(effects, names, ATTEMPTS_MAX - 1, REACH_MS)).toBe(true);
  expect(isTriedAgain(effects, names, 20, REACH_MS - 1)).toBe(isLong);
  expect(isTriedAgain(effects, names, 20, REACH_MS)).toBe(false);
});
