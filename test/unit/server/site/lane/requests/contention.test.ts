/**
 * What operations of other sites have met, and which of this site read of it (docs/spec/redblue.md,
 * RB-R13).
 */
import fc from 'fast-check';
import { expect, test, vi } from 'vitest';
import {
  toFieldName,
  toRemovalName,
  toRowName,
  toTableName,
} from '../../../../../../src/server/service/generator/read-set.ts';
import type { ReadSet } from '../../../../../../src/server/service/generator/read-set.ts';
import { toReadRange } from '../../../../../../src/server/service/records/read-range.ts';
import { getConflictingNames } from '../../../../../../src/server/service/records/certification-result.ts';
import type { Conflict } from '../../../../../../src/server/service/records/certification-result.ts';
import { Contention } from '../../../../../../src/server/site/lane/requests/contention.ts';
import { RIGHTS_TRANSFER_SHADOW } from '../../../../../../src/server/site/core/rights-port.ts';
import { scaleRuns } from '../../../../../support/lane.ts';

const RESEND_MS = 100;
const OWN = 'me/1';

/** Of a site whose time the test sets. */
function contention(): { core: { nowMs: number }; met: Contention } {
  const core = { nowMs: 0, options: { resendAfterMs: RESEND_MS } as never };
  return { core, met: new Contention(core) };
}

const changed = (name: string, ...others: string[]): Conflict => ({ reason: 'name', name, others });
const scanned = (table: string): Conflict => ({
  reason: 'range',
  range: toReadRange(table, undefined, {}),
});

const reading = (...names: string[]): ReadSet => ({ names: new Set(names), ranges: [] });
const scanning = (...tables: string[]): ReadSet => ({
  names: new Set(),
  ranges: tables.map((table) => toReadRange(table, undefined, {})),
});

const SEATS = toFieldName('t', 'a', 'seats');

test.each([
  ['a field', reading(SEATS), true],
  ['another one of the row', reading(toFieldName('t', 'a', 'name')), true],
  ['whether the row is there', reading(toRowName('t', 'a')), true],
  ['that it is not removed', reading(toRemovalName('t', 'a')), true],
  ['another row', reading(toFieldName('t', 'aa', 'seats')), false],
  ['the row of this key in another table', reading(toFieldName('tt', 'a', 'seats')), false],
  ['a scan', scanning('t'), true],
  ['a scan of another table', scanning('tt'), false],
  ['nothing', reading(), false],
])('a field was changed, and %s is read → it waits: %#', (_what, reads, waits) => {
  const { met: encountered } = contention();
  encountered.onRejected({ id: 'far/1', shadow: 'sell' }, changed(SEATS));
  expect(encountered.findBlocker(reads, OWN) !== undefined).toBe(waits);
});

test.each([
  ['a field', reading(SEATS), true],
  ['which rows there are', reading(toTableName('t')), true],
  ['a scan', scanning('t'), true],
  ['a field of another table', reading(toFieldName('tt', 'a', 'seats')), false],
])('a scan was changed, and %s is read → it waits: %#', (_what, reads, waits) => {
  const { met: encountered } = contention();
  encountered.onRejected({ id: 'far/1', shadow: 'sell' }, scanned('t'));
  expect(encountered.findBlocker(reads, OWN) !== undefined).toBe(waits);
});

test('a conflict on a key with arbitrary text → each reader of the whole row meets it', () => {
  const key = fc.string({ unit: fc.constantFrom('a', '\u0000'), maxLength: 4 });
  fc.assert(
    fc.property(key, (odd) => {
      const { met: encountered } = contention();
      encountered.onRejected(
        { id: 'far/1', shadow: 'sell' },
        changed(toFieldName('t', odd, 'seats')),
      );
      for (const name of [
        toFieldName('t', odd, 'name'),
        toRowName('t', odd),
        toRemovalName('t', odd),
      ]) {
        expect(encountered.findBlocker(reading(name), OWN)).toBeDefined();
      }
    }),
  );
});

test('the rejected operation itself, moved here by its client → waits for no other', () => {
  const { met: encountered } = contention();
  encountered.onRejected({ id: OWN, shadow: 'sell' }, changed(SEATS));
  expect(encountered.findBlocker(reading(SEATS), OWN)).toBeUndefined();
  expect(encountered.findBlocker(reading(SEATS), 'other/1')).toBeDefined();
});

test('an operation of a site itself was rejected → no operation waits, since it is not tried again', () => {
  const { met: encountered } = contention();
  encountered.onRejected({ id: 'far/1', shadow: RIGHTS_TRANSFER_SHADOW }, changed(SEATS));
  expect(encountered.findBlocker(reading(SEATS), OWN)).toBeUndefined();
});

test.each([
  [RESEND_MS - 1, true],
  [RESEND_MS, false],
])('rejected, and not again for %i ms of 100 → others wait: %s', (ms, waits) => {
  const { core, met: encountered } = contention();
  encountered.onRejected({ id: 'far/1', shadow: 'sell' }, changed(SEATS));
  core.nowMs = ms;
  encountered.takeWaiters();
  expect(encountered.findBlocker(reading(SEATS), OWN) !== undefined).toBe(waits);
});

/** What it looks up while `run` goes on, and how much of `read` it goes through. */
function looksOf(read: readonly string[], run: (reads: ReadSet) => void): number {
  let looks = 0;
  class Counted extends Set<string> {
    override *[Symbol.iterator](): ReturnType<Set<string>['values']> {
      for (const name of super.values()) {
        looks += 1;
        yield name;
      }
    }
  }
  const lookups = [vi.spyOn(Map.prototype, 'get'), vi.spyOn(Set.prototype, 'has')];
  run({ names: new Counted(read), ranges: [] });
  for (const { mock } of lookups) looks += mock.calls.length;
  vi.restoreAllMocks();
  return looks;
}

test.each([3, 200])(
  'many have met many rows, and one reads %i others → it looks for what it reads alone',
  (count) => {
    const { met: encountered } = contention();
    const rows = (of: string, to: number): string[] =>
      Array.from({ length: to }, (_, n) => toFieldName('t', of + n, 'seats'));
    for (let n = 0; n < 256; n += 1)
      encountered.onRejected(
        { id: `far/${n}`, shadow: 'sell' },
        changed(...(rows(`${n}-`, 200) as [string])),
      );
    const looks = looksOf(rows('own-', count), (reads) =>
      expect(encountered.findBlocker(reads, OWN)).toBeUndefined(),
    );
    // A name is looked for in its row and in its table, which all of them are of.
    expect(looks).toBeLessThanOrEqual(2 * count + 1);
  },
);

/** What was met and read of two tables of two rows. */
const tables = fc.constantFrom('t', 'u');
const names = fc.oneof(
  fc
    .tuple(tables, fc.constantFrom('a', 'b'), fc.constantFrom('seats', 'name'))
    .map((parts) => toFieldName(...parts)),
  tables.map(toTableName),
);
const conflicts = fc.oneof(
  fc.array(names, { minLength: 1, maxLength: 3 }).map((all) => changed(...(all as [string]))),
  tables.map(scanned),
);
const ids = fc.constantFrom('far/1', 'far/2', 'far/3');

const isIn = (name: string, place: string): boolean => `${name}\u0000`.startsWith(`${place}\u0000`);

/** Whether who reads so waits for who has met that: all with all. */
function isMet({ names: read, ranges }: ReadSet, conflict: Conflict): boolean {
  const places =
    conflict.reason === 'range'
      ? [conflict.range.table]
      : getConflictingNames(conflict).map((name) => name.split('\u0000', 2).join('\u0000'));
  return places.some(
    (place) =>
      [...read].some((name) => isIn(name, place)) || ranges.some(({ table }) => isIn(place, table)),
  );
}

test('whatever was met and has ended → it waits for the first of them that met what it reads', () => {
  // None: it has ended.
  const events = fc.array(fc.tuple(ids, fc.option(conflicts, { nil: undefined })), {
    maxLength: 6,
  });
  const read = fc.record({
    names: fc.uniqueArray(names, { maxLength: 3 }).map((all) => new Set(all)),
    ranges: fc.uniqueArray(tables).map((all) => scanning(...all).ranges),
  });
  fc.assert(
    fc.property(events, read, ids, (all, reads, by) => {
      const { met: encountered } = contention();
      const remaining = new Map<string, Conflict>();
      for (const [id, conflict] of all) {
        remaining.delete(id);
        if (conflict === undefined) {
          encountered.onEnded(id);
        } else {
          encountered.onRejected({ id, shadow: 'sell' }, conflict);
          remaining.set(id, conflict);
        }
      }
      const first = [...remaining].find(([id, conflict]) => id !== by && isMet(reads, conflict));
      expect(encountered.findBlocker(reads, by)?.id).toBe(first?.[0]);
    }),
    { numRuns: scaleRuns(500) },
  );
});
