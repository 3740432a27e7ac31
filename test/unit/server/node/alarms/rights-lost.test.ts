/** The alarm of rights that were lost with a site has the amounts, and what to do. */
import { expect, test } from 'vitest';
import {
  createSiteAlarms,
  type SiteAlarm,
} from '../../../../../src/server/node/alarms/site-alarm.ts';
import { Origins } from '../../../../../src/server/service/records/origin.ts';

const origins = Origins.create(['ireland', 'virginia']);

test('rights of many rows are lost → the sum of each field, and the rows that have most', () => {
  const alarms: SiteAlarm[] = [];
  const raise = createSiteAlarms('ireland', origins, (alarm) => alarms.push(alarm));
  const seats = Array.from({ length: 12 }, (_, n) => ({
    table: 'events',
    key: `e${n}`,
    field: 'seats',
    amount: n + 1,
  }));
  raise.onRightsLost(origins.sites[1]!, [
    ...seats,
    { table: 'events', key: 'e0', field: 'coats', amount: 17 },
  ]);
  expect(alarms).toMatchObject([{ kind: 'rights-lost', site: 'ireland', peer: 'virginia' }]);
  expect(alarms[0]?.message).toBe(
    'Site ireland: virginia was closed with rights that no site can take any more: ' +
      '78 of events.seats (e11: 12, e10: 11, e9: 10, e8: 9, e7: 8, e6: 7, e5: 6, e4: 5, e3: 4, e2: 3, 2 more rows); ' +
      '17 of events.coats (e0: 17). They count as used. ' +
      'If no operation of virginia is missing, give as much again by an operation of your service: once, since each site reports this.',
  );
});
