/** What operations of other sites have met, and which of this site read of it (docs/spec/redblue.md, R13). */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { fieldName, removalName, rowName, tableName } from '../../../../../src/server/generator/read-set.ts';
import type { ReadSet } from '../../../../../src/server/generator/read-set.ts';
import { rangeOf } from '../../../../../src/server/records/key-range.ts';
import type { Conflict } from '../../../../../src/server/records/verdict.ts';
import { Contention } from '../../../../../src/server/replica/red/contention.ts';
import { RIGHTS_SHADOW } from '../../../../../src/server/replica/core/rights-port.ts';

const RESEND_MS = 100;
const OWN = 'me/1';

/** Of a site whose time the test sets. */
function contention(): { core: { nowMs: number }; met: Contention } {
  const core = { nowMs: 0, options: { resendAfterMs: RESEND_MS } as never };
  return { core, met: new Contention(core) };
}

const changed = (name: string, ...others: string[]): Conflict => ({ reason: 'name', name, others });
const scanned = (table: string): Conflict => ({ reason: 'range', range: rangeOf(table, undefined, {}) });

const reading = (...names: string[]): ReadSet => ({ names: new Set(names), ranges: [] });
const scanning = (...tables: string[]): ReadSet => ({
  names: new Set(),
  ranges: tables.map((table) => rangeOf(table, undefined, {})),
});

const SEATS = fieldName('t', 'a', 'seats');

test.each([
  ['a field', reading(SEATS), true],
  ['another one of the row', reading(fieldName('t', 'a', 'name')), true],
  ['whether the row is there', reading(rowName('t', 'a')), true],
  ['that it is not removed', reading(removalName('t', 'a')), true],
  ['another row', reading(fieldName('t', 'aa', 'seats')), false],
  ['the row of this key in another table', reading(fieldName('tt', 'a', 'seats')), false],
  ['a scan', scanning('t'), true],
  ['a scan of another table', scanning('tt'), false],
  ['nothing', reading(), false],
])('a field was changed, and %s is read → it waits: %#', (_what, reads, waits) => {
  const { met } = contention();
  met.meet({ id: 'far/1', shadow: 'sell' }, changed(SEATS));
  expect(met.about(reads, OWN) !== undefined).toBe(waits);
});

test.each([
  ['a field', reading(SEATS), true],
  ['which rows there are', reading(tableName('t')), true],
  ['a scan', scanning('t'), true],
  ['a field of another table', reading(fieldName('tt', 'a', 'seats')), false],
])('a scan was changed, and %s is read → it waits: %#', (_what, reads, waits) => {
  const { met } = contention();
  met.meet({ id: 'far/1', shadow: 'sell' }, scanned('t'));
  expect(met.about(reads, OWN) !== undefined).toBe(waits);
});

test('what was met of a key with any text in it → is met by who reads all of that row', () => {
  const key = fc.string({ unit: fc.constantFrom('a', '\u0000'), maxLength: 4 });
  fc.assert(
    fc.property(key, (odd) => {
      const { met } = contention();
      met.meet({ id: 'far/1', shadow: 'sell' }, changed(fieldName('t', odd, 'seats')));
      for (const name of [fieldName('t', odd, 'name'), rowName('t', odd), removalName('t', odd)]) {
        expect(met.about(reading(name), OWN)).toBeDefined();
      }
    }),
  );
});

test('it is the very one that was rejected, and its client has moved here → it waits for nobody', () => {
  const { met } = contention();
  met.meet({ id: OWN, shadow: 'sell' }, changed(SEATS));
  expect(met.about(reading(SEATS), OWN)).toBeUndefined();
  expect(met.about(reading(SEATS), 'other/1')).toBeDefined();
});

test('what a site does by itself was rejected → nobody waits: it is not tried again', () => {
  const { met } = contention();
  met.meet({ id: 'far/1', shadow: RIGHTS_SHADOW }, changed(SEATS));
  expect(met.about(reading(SEATS), OWN)).toBeUndefined();
});

test.each([
  [RESEND_MS - 1, true],
  [RESEND_MS, false],
])('rejected, and not again for %i ms of 100 → others wait: %s', (ms, waits) => {
  const { core, met } = contention();
  met.meet({ id: 'far/1', shadow: 'sell' }, changed(SEATS));
  core.nowMs = ms;
  met.takeHeirs();
  expect(met.about(reading(SEATS), OWN) !== undefined).toBe(waits);
});

test('many have met many rows, and one reads many others → each name is looked at once', () => {
  const { met } = contention();
  const rows = (of: string): string[] => Array.from({ length: 200 }, (_, n) => fieldName('t', of + n, 'seats'));
  for (let n = 0; n < 256; n += 1)
    met.meet({ id: `far/${n}`, shadow: 'sell' }, changed(...(rows(`${n}-`) as [string])));
  let looks = 0;
  class Counted extends Set<string> {
    override *[Symbol.iterator](): ReturnType<Set<string>['values']> {
      for (const name of super.values()) {
        looks += 1;
        yield name;
      }
    }
  }
  const names = new Counted(rows('own-'));
  expect([met.about({ names, ranges: [] }, OWN), looks]).toEqual([undefined, 200]);
});
