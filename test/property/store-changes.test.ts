/**
 * What checkpoints take of a store, a few rows at a time between any effects, adds up to all of it.
 */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createInsertEffect, createRemoveEffect } from '../../src/server/service/records/effect.ts';
import { Store } from '../../src/server/service/state/store.ts';
import { counter, queue, register, table } from '../../src/server/service/tables.ts';
import { siteAt } from '../support/origins.ts';
import { onceEach, sharesOf, testShares, unnoted, type Note } from '../support/property-shares.ts';
import { RED } from '../../src/server/service/records/origin.ts';
import { scaleRuns } from '../support/lane.ts';

const RUNS = Number(process.env['FC_RUNS'] ?? scaleRuns(300));
const TABLES = {
  kept: table({ value: register<number>(), count: counter() }, { indexes: ['value'] }),
  notes: table({ value: register<number>() }, { removable: true }),
  lines: table({ items: queue<string>() }, { removable: true }),
};

/** Of two such items, or three, a part of a queue is full. */
const ITEM = 'x'.repeat(15_000);

const key = fc.constantFrom('a', 'b', 'c');
const value = fc.nat(9);
const effect = fc.oneof(
  fc.tuple(fc.constantFrom('kept', 'notes'), key, value).map(([name, row, written]) => {
    return { table: name, key: row, field: 'value', action: 'write', value: written };
  }),
  fc.tuple(key, value).map(([row, amount]) => {
    return { table: 'kept', key: row, field: 'count', action: 'add', value: amount };
  }),
  fc.tuple(key, value).map(([row, item]) => {
    return { table: 'lines', key: row, field: 'items', action: 'push', value: `${item}${ITEM}` };
  }),
  key.map((row) => ({ table: 'lines', key: row, field: 'items', action: 'pop' })),
  key.map((row) => createRemoveEffect('lines', row)),
  key.map((row) => createInsertEffect('notes', row)),
  key.map((row) => createRemoveEffect('notes', row)),
);
const step = fc.oneof(
  { weight: 4, arbitrary: effect.map((item) => ({ effect: item })) },
  { weight: 2, arbitrary: fc.record({ take: fc.integer({ min: 1, max: 3 }) }) },
  { weight: 1, arbitrary: fc.constant({ again: true as const }) },
  { weight: 2, arbitrary: fc.constant({ forget: true as const }) },
);

const takenInParts = (note: Note): fc.IRawProperty<unknown> =>
  fc.property(fc.array(effect), fc.array(step, { maxLength: 60, size: 'max' }), (before, steps) => {
    const once = onceEach(note);
    const store = new Store(TABLES);
    let rows = new Map<string, unknown>();
    let time = 0;
    const apply = (item: (typeof before)[number]): void => {
      time += 1;
      const isRed = item.table === 'lines';
      const seen = isRed ? [time - 1, time] : [0, time];
      store.apply(item, {
        time,
        site: siteAt(0),
        entry: isRed ? RED : siteAt(0),
        version: time,
        seen,
      });
    };
    const take = (max: number): void => {
      for (const [name, saved] of store.takeChanges(max)) {
        if (saved === undefined && rows.has(name)) once('a row that was taken is gone');
        if (saved !== undefined && rows.has(name)) once('a row that was taken has changed');
        if (saved === undefined) rows.delete(name);
        else rows.set(name, JSON.parse(JSON.stringify(saved)));
      }
    };
    for (const entry of before) apply(entry);
    store.changeAll();
    for (const element of steps) {
      if ('effect' in element) {
        if (rows.size > 0 && store.changeCount > 0)
          once('an effect comes while some are taken and others are not');
        apply(element.effect);
      } else if ('take' in element) take(element.take);
      // What was removed before now everybody has seen.
      else if ('forget' in element) store.forgetRemovals([time, time]);
      else {
        // As after a checkpoint that failed.
        if (rows.size > 0) once('a checkpoint fails that had rows');
        rows = new Map();
        store.changeAll();
      }
    }
    if (store.changeCount > 0) once('some are left at the end');
    while (store.changeCount > 0) take(1);
    const restored = new Store(TABLES);
    restored.restore(rows);
    expect(restored.snapshot()).toEqual(store.snapshot());
    expect(restored.getRemovalTimes()).toEqual(store.getRemovalTimes());
    if (rows.size > 3) once('several rows are restored');
    if ([...rows.keys()].some((name) => name.includes('lines'))) once('a queue is restored');
  });

test('any effects, with changes taken at any moments between them → restored, the same store', async () => {
  await fc.assert(takenInParts(unnoted), { numRuns: RUNS });
});

testShares(
  'changes are taken in parts → what was taken before changes and goes, in most runs',
  async () => {
    const shares = await sharesOf(takenInParts, 200);
    for (const description of [
      'a checkpoint fails that had rows',
      'an effect comes while some are taken and others are not',
      'a row that was taken has changed',
      'some are left at the end',
      'several rows are restored',
      'a queue is restored',
    ]) {
      expect(shares[description], description).toBeGreaterThan(0.5);
    }
    expect(shares['a row that was taken is gone']).toBeGreaterThan(0.15);
  },
);
