/**
 * What checkpoints take of a store, a few rows at a time between any effects, adds up to all of it
 * as it was at one moment.
 */
// @rule STO-7
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { SavedRow } from '../../src/server/service/records/checkpoint.ts';
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
  { weight: 4, arbitrary: fc.record({ take: fc.integer({ min: 1, max: 3 }) }) },
  { weight: 1, arbitrary: fc.constant({ fail: true as const }) },
  { weight: 2, arbitrary: fc.constant({ forget: true as const }) },
);

/** All that a store shows. */
function show(store: Store): unknown {
  const ranges = [{ table: 'kept' }, { table: 'kept', field: 'value' }, { table: 'lines' }];
  const orders = ranges.map((range) => [...store.scan(range, false)]);
  return JSON.parse(JSON.stringify([store.snapshot(), store.getRemovalTimes(), orders]));
}

const isEqual = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b);

/** A file of checkpoints of a store, of which each is taken in slices. */
class File {
  isOpen = false;
  /** Whether the rows of all checkpoints have made the store as it was when they began. */
  isRight = true;
  readonly #store: Store;
  readonly #once: Note;
  /** The rows of the last checkpoint; `undefined` before the first, and once one has failed. */
  #rows: ReadonlyMap<string, unknown> | undefined;
  #taken: SavedRow[] = [];
  #atClose: unknown;

  constructor(store: Store, once: Note) {
    this.#store = store;
    this.#once = once;
  }

  fail(): void {
    if (this.isOpen && this.#taken.length > 0) this.#once('a checkpoint fails that had rows');
    this.#store.changeAll();
    this.#rows = undefined;
    this.isOpen = false;
  }

  take(max: number): void {
    if (!this.isOpen) this.#begin();
    const rows = this.#store.takeClosed(max);
    this.#taken.push(...rows);
    if (rows.length > 0) return;
    this.isOpen = false;
    const changed = this.#taken.map(([name]) => name);
    if (changed.some((name) => this.#rows?.has(name))) this.#once('a row is saved again');
    if (this.#taken.some(([, saved]) => saved === undefined)) this.#once('a row is gone');
    // Rows may be written later than they are taken.
    const written = JSON.parse(
      JSON.stringify(this.#taken.filter(([, saved]) => saved !== undefined)),
    ) as SavedRow[];
    const kept = [...(this.#rows ?? [])].filter(([name]) => !changed.includes(name));
    this.#rows = new Map([...kept, ...written]);
    if (!isEqual(show(this.#store), this.#atClose)) this.#once('the store has changed meanwhile');
    const restored = new Store(TABLES);
    restored.restore(new Map(this.#rows));
    this.isRight &&= isEqual(show(restored), this.#atClose);
    const names = [...this.#rows.keys()];
    if (names.length > 3) this.#once('several rows are restored');
    if (names.some((name) => name.includes('lines'))) this.#once('a queue is restored');
  }

  #begin(): void {
    this.#store.closeChanges();
    this.#atClose = show(this.#store);
    this.#taken = [];
    this.isOpen = true;
  }
}

const takenInParts = (note: Note): fc.IRawProperty<unknown> =>
  fc.property(
    fc.array(effect),
    fc.array(step, { maxLength: 100, size: 'max' }),
    (before, steps) => {
      const store = new Store(TABLES);
      const file = new File(store, onceEach(note));
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
      for (const entry of before) apply(entry);
      for (const element of steps) {
        if ('effect' in element) apply(element.effect);
        else if ('take' in element) file.take(element.take);
        // What was removed before now everybody has seen.
        else if ('forget' in element) store.forgetRemovals([time, time]);
        else file.fail();
      }
      file.take(1);
      while (file.isOpen) file.take(1);
      expect(file.isRight).toBe(true);
    },
  );

test('any effects, with rows taken at any moments between them → restored, the store when they were closed', async () => {
  await fc.assert(takenInParts(unnoted), { numRuns: RUNS });
});

testShares(
  'rows are taken in parts → what is taken, or not yet, changes and goes, in most runs',
  async () => {
    const shares = await sharesOf(takenInParts, 200);
    for (const description of [
      'a checkpoint fails that had rows',
      'the store has changed meanwhile',
      'a row is saved again',
      'several rows are restored',
      'a queue is restored',
    ]) {
      expect(shares[description], description).toBeGreaterThan(0.5);
    }
    expect(shares['a row is gone']).toBeGreaterThan(0.15);
  },
);
