/** The alarm about rows that differ names them and both sites, once. */
// @rule STO-39
import { expect, test } from 'vitest';
import { DivergenceAlarm } from '../../../../../src/server/node/alarms/divergence-alarm.ts';
import type { SiteAlarm } from '../../../../../src/server/node/alarms/site-alarm.ts';
import { Origins } from '../../../../../src/server/service/records/origin.ts';
import { siteAt } from '../../../../support/origins.ts';

const ORIGINS = Origins.create(['ireland', 'frankfurt', 'virginia']);

function observe(): { readonly alarm: DivergenceAlarm; readonly raised: SiteAlarm[] } {
  const raised: SiteAlarm[] = [];
  return { alarm: new DivergenceAlarm('ireland', ORIGINS, (item) => raised.push(item)), raised };
}

const compared = (differing: readonly string[], peer = siteAt(1)) => ({
  peer,
  table: 'accounts',
  rows: 100,
  differing,
  isLast: false,
});

test('rows that are the same → they are counted, and no alarm is raised', () => {
  const { alarm, raised } = observe();
  alarm.onRowsCompared(compared([]));
  alarm.onRowsCompared({ ...compared([]), isLast: true });
  expect(alarm.figures).toEqual({ rows: 200, passes: 1, diverged: 0 });
  expect(raised).toEqual([]);
});

test('rows that differ → the alarm names both sites, the table, keys, and what to do', () => {
  const { alarm, raised } = observe();
  alarm.onRowsCompared(compared(['ann', 'bob']));
  expect(raised).toEqual([
    {
      kind: 'sites-diverged',
      site: 'ireland',
      peer: 'frankfurt',
      message:
        "Site ireland: rows of table accounts are not those of frankfurt, though both sites have applied the same operations: 'ann', 'bob'. The site that the alarms of all others name is wrong: take it out of service and rebuild it. Nothing is repaired by itself.",
    },
  ]);
});

test('the same rows in a later pass → no second alarm, but one for each further row and site', () => {
  const { alarm, raised } = observe();
  alarm.onRowsCompared(compared(['ann']));
  alarm.onRowsCompared(compared(['ann']));
  alarm.onRowsCompared(compared(['ann', 'bob']));
  alarm.onRowsCompared(compared(['ann'], siteAt(2)));
  expect(raised.map(({ message }) => message.match(/rows of .*?'\w+'/)?.[0])).toEqual([
    "rows of table accounts are not those of frankfurt, though both sites have applied the same operations: 'ann'",
    "rows of table accounts are not those of frankfurt, though both sites have applied the same operations: 'bob'",
    "rows of table accounts are not those of virginia, though both sites have applied the same operations: 'ann'",
  ]);
  expect(alarm.figures.diverged).toBe(3);
});

test('many rows, and long keys → the message has the first of them, shortened', () => {
  const { alarm, raised } = observe();
  alarm.onRowsCompared(
    compared(Array.from({ length: 1500 }, (_, row) => `${row} ${'k'.repeat(500)}`)),
  );
  expect(raised[0]?.message.length).toBeLessThan(2000);
  expect(raised[0]?.message).toContain('… (502 characters)');
  expect(raised[0]?.message).toContain('990 more');
});
