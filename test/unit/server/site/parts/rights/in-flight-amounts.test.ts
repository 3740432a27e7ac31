/**
 * What own operations in flight use: takes, and what is given away, of which some is for the pool.
 */
import { expect, test } from 'vitest';
import { RED } from '../../../../../../src/server/service/records/origin.ts';
import { InFlightAmounts } from '../../../../../../src/server/site/parts/rights/in-flight-amounts.ts';
import { createTransferEffect } from '../../../../../../src/server/service/fields/bounded-counter.ts';
import { boundedCounter, table } from '../../../../../../src/server/service/tables.ts';
import { siteAt } from '../../../../../support/origins.ts';

const field = { table: 'events', key: 'E', field: 'seats' };

test('a take, a transfer to another site and one to the pool → used are all of them, handed in is the last', () => {
  const inFlight = new InFlightAmounts({ events: table({ seats: boundedCounter({ min: 0 }) }) });
  const effects = [
    { ...field, action: 'take', value: 1 },
    createTransferEffect(field, { to: siteAt(1), amount: 2 }),
    createTransferEffect(field, { to: RED, amount: 4 }),
  ];
  inFlight.add(effects);
  expect([inFlight.getUsed(field), inFlight.getReturnedToPool(field)]).toEqual([7, 4]);
  inFlight.remove(effects);
  expect([inFlight.getUsed(field), inFlight.getReturnedToPool(field)]).toEqual([0, 0]);
});
