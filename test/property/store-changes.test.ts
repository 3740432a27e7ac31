/** What checkpoints take of a store, a few rows at a time between any effects, adds up to all of it. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { insertEffect, removeEffect } from '../../src/server/service/row-effects.ts';
import { Store } from '../../src/server/state/store.ts';
import { counter, queue, register, table } from '../../src/server/service/tables.ts';
import { siteAt } from '../support/origins.ts';
import { RED } from '../../src/server/records/origin.ts';

const RUNS = Number(process.env['FC_RUNS'] ?? 300);
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
  key.map((row) => removeEffect('lines', row)),
  key.map((row) => insertEffect('notes', row)),
  key.map((row) => removeEffect('notes', row)),
);
const step = fc.oneof(
  { weight: 4, arbitrary: effect.map((each) => ({ effect: each })) },
  { weight: 2, arbitrary: fc.record({ take: fc.integer({ min: 1, max: 3 }) }) },
  { weight: 1, arbitrary: fc.constant({ again: true as const }) },
);

test('any effects, with changes taken at any moments between them → restored, the same store', () => {
  fc.assert(
    fc.property(fc.array(effect), fc.array(step, { maxLength: 60, size: 'max' }), (before, steps) => {
      const store = new Store(TABLES);
      let rows = new Map<string, unknown>();
      let time = 0;
      const apply = (each: (typeof before)[number]): void => {
        time += 1;
        const isRed = each.table === 'lines';
        const seen = isRed ? [time - 1, time] : [0, time];
        store.apply(each, { time, site: siteAt(0), entry: isRed ? RED : siteAt(0), version: time, seen });
      };
      const take = (max: number): void => {
        for (const [name, saved] of store.takeChanges(max)) {
          if (saved === undefined) rows.delete(name);
          else rows.set(name, JSON.parse(JSON.stringify(saved)));
        }
      };
      for (const each of before) apply(each);
      store.changeAll();
      for (const each of steps) {
        if ('effect' in each) apply(each.effect);
        else if ('take' in each) take(each.take);
        else {
          // As after a checkpoint that failed.
          rows = new Map();
          store.changeAll();
        }
      }
      while (store.changes > 0) take(1);
      const restored = new Store(TABLES);
      restored.restore(rows);
      expect(restored.snapshot()).toEqual(store.snapshot());
    }),
    { numRuns: RUNS },
  );
});
