/** The pool of a bounded field whose row is ordered by the red log of a partition. */
import { expect, test } from 'vitest';
import { Origins, RED, type Origin } from '../../../../../../src/server/service/records/origin.ts';
import { boundedCounterKind } from '../../../../../../src/server/service/fields/bounded-counter.ts';
import type { Ledger } from '../../../../../../src/server/service/fields/ledger.ts';

const origins = Origins.create(['ireland', 'virginia'], ['us']);
const [, virginia] = origins.sites as readonly [Origin, Origin];
const [, us] = origins.logs as readonly [Origin, Origin];

test('a red take in us is from the pool, and of no origin of its own', () => {
  const field = boundedCounterKind.state(undefined, { min: 0 });
  const apply = (action: string, value: unknown, entry: Origin): unknown =>
    field.apply({ table: 'seats', key: 'us/hall', field: 'free', action, value } as never, {
      time: 1,
      site: virginia,
      entry,
      version: 1,
      seen: [],
    });
  apply('give', 10, virginia);
  apply('transfer', { to: RED, amount: 6 }, virginia);
  apply('take', 2, us);
  const ledger = field.read() as Ledger;
  expect([ledger.pool, ledger.getHolding(virginia), ledger.getHolding(us)]).toEqual([4, 4, 0]);
});
