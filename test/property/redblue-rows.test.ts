/** Rows: sites that apply the same operations in different orders agree, and scans show what a plain list would. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Effect, Stamp } from '../../src/server/records/effect.ts';
import type { Entry, ReadRange } from '../../src/server/records/key-range.ts';
import { compareEntries, isWithin, rangeOf } from '../../src/server/records/key-range.ts';
import { Overlay } from '../../src/server/state/overlay.ts';
import { insertEffect, removeEffect } from '../../src/server/service/row-effects.ts';
import { SortedEntries } from '../../src/server/state/sorted-entries.ts';
import { Store } from '../../src/server/state/store.ts';
import { TableStore } from '../../src/server/state/table-store.ts';
import { counter, log, queue, register, set, stock, table } from '../../src/server/service/tables.ts';
import { placeOf, siteAt, sitesTo } from '../support/origins.ts';
import type { Origin } from '../../src/server/records/origin.ts';

const notes = table(
  { n: counter(), title: register<string>(), tags: set<string>(), lines: log<string>() },
  { indexes: ['title', 'tags'], removable: true },
);

const keyArbitrary = fc.constantFrom('a', 'b');
const effectArbitrary: fc.Arbitrary<Effect> = fc
  .record({ key: keyArbitrary, value: fc.constantFrom('x', 'y', 'z'), amount: fc.integer({ min: -5, max: 5 }) })
  .chain(({ key, value, amount }) => {
    const on = (field: string, action: string, given: unknown): Effect => ({
      table: 'notes',
      key,
      field,
      action,
      value: given,
    });
    return fc.constantFrom(
      on('n', 'add', amount),
      on('title', 'write', value),
      on('tags', 'add', value),
      on('tags', 'remove', value),
      on('lines', 'append', value),
      insertEffect('notes', key),
      removeEffect('notes', key),
      removeEffect('notes', key),
    );
  });

interface Operation {
  readonly stamp: Stamp;
  readonly effects: readonly Effect[];
}

/**
 * Operations of two sites. Each has seen all earlier ones of its own site and some prefix of the other's; its time is
 * above all of those.
 */
const historyArbitrary: fc.Arbitrary<readonly Operation[]> = fc
  .array(
    fc.record({
      site: fc.integer({ min: 0, max: 1 }),
      sees: fc.nat(8),
      pause: fc.nat(3),
      effects: fc.array(effectArbitrary, { minLength: 1, maxLength: 3 }),
    }),
    { minLength: 2, maxLength: 12 },
  )
  .map((drafts) => {
    const operations: Operation[] = [];
    const seenOf = [
      [0, 0, 0],
      [0, 0, 0],
    ];
    for (const { site, sees, pause, effects } of drafts) {
      const seen = seenOf[site] as number[];
      const other = 1 - site;
      const others = operations.filter(({ stamp }) => stamp.site === siteAt(other)).slice(0, sees);
      // What another site's operation had seen is seen with it.
      for (const { stamp } of others)
        for (const entry of sitesTo(2)) seen[entry] = Math.max(seen[entry] ?? 0, stamp.seen[entry] ?? 0);
      const time = Math.max(...seen) + 1 + pause;
      const origin = siteAt(site);
      seen[origin] = time;
      operations.push({ stamp: { time, site: origin, entry: origin, version: time, seen: [...seen] }, effects });
    }
    return operations;
  });

/** Applies all of them in an order that keeps causality, choosing by `picks` among those that may come next. */
function applied(operations: readonly Operation[], picks: readonly number[]): TableStore {
  const store = new TableStore('notes', notes);
  const stable = [0, 0, 0];
  const otherOf = (site: Origin): Origin => siteAt(1 - placeOf(site));
  const left = [...operations];
  for (let turn = 0; left.length > 0; turn += 1) {
    const ready = left.filter(({ stamp }) => {
      const isNext = !left.some((other) => other.stamp.site === stamp.site && other.stamp.time < stamp.time);
      const other = otherOf(stamp.site);
      return isNext && (stamp.seen[other] ?? 0) <= (stable[other] ?? 0);
    });
    const next = ready[(picks[turn % picks.length] ?? 0) % ready.length] as Operation;
    for (const effect of next.effects) store.apply(effect, next.stamp);
    stable[next.stamp.site] = next.stamp.time;
    left.splice(left.indexOf(next), 1);
  }
  return store;
}

const everything = (store: TableStore): unknown => ({
  rows: store.snapshot(),
  keys: [...store.scan({ table: 'notes' }, false)],
  titles: [...store.scan({ table: 'notes', field: 'title' }, false)],
  tags: [...store.scan({ table: 'notes', field: 'tags' }, false)],
  values: ['a', 'b'].map((key) => [
    store.has(key),
    ...Object.keys(notes.fields).map((field) => store.read(key, field)),
  ]),
});

const picksArbitrary = fc.array(fc.nat(5), { minLength: 1, maxLength: 12 });

describe('rows', () => {
  test('applied in any causal order → one state, with removals too', () => {
    fc.assert(
      fc.property(historyArbitrary, picksArbitrary, picksArbitrary, (operations, first, second) => {
        expect(everything(applied(operations, second))).toEqual(everything(applied(operations, first)));
      }),
      { numRuns: 2000 },
    );
  });

  test('an indexed set of 20 000 → each addition costs what one does, not what the set holds', () => {
    const store = new TableStore('notes', notes);
    const add = (index: number): void => {
      const stamp = { time: index, site: siteAt(0), entry: siteAt(0), version: index, seen: [0, index - 1] };
      store.apply({ table: 'notes', key: 'a', field: 'tags', action: 'add', value: `t${index}` }, stamp);
    };
    // Were each to look at all, this would take minutes.
    for (let index = 1; index <= 20_000; index += 1) add(index);
    expect([...store.scan({ table: 'notes', field: 'tags' }, false)]).toHaveLength(20_000);
    const removal = { time: 30_000, site: siteAt(0), entry: siteAt(0), version: 30_000, seen: [0, 20_000] };
    store.apply(removeEffect('notes', 'a'), removal);
    expect([...store.scan({ table: 'notes', field: 'tags' }, false)]).toEqual([]);
  });

  test('saved and restored at any point → the same state then and later', () => {
    fc.assert(
      fc.property(historyArbitrary, fc.nat(12), (operations, cut) => {
        const store = applied(operations.slice(0, cut), [0]);
        const restored = new TableStore('notes', notes);
        for (const key of store.savedKeys()) restored.restore(key, JSON.parse(JSON.stringify(store.save(key))));
        expect(everything(restored)).toEqual(everything(store));
        for (const { effects, stamp } of operations.slice(cut)) {
          for (const effect of effects) for (const each of [store, restored]) each.apply(effect, stamp);
        }
        expect(everything(restored)).toEqual(everything(store));
      }),
      { numRuns: 500 },
    );
  });
});

const rangeArbitrary: fc.Arbitrary<ReadRange> = fc
  .record(
    {
      from: fc.constantFrom('', 'a', 'b', 'bb', 'c'),
      before: fc.constantFrom('a', 'b', 'bc', 'd'),
      prefix: fc.constantFrom('', 'a', 'b', 'ab', '\uffff'),
      equals: fc.constantFrom('a', 'b'),
    },
    { requiredKeys: [] },
  )
  .map((options) => rangeOf('t', undefined, options));

describe('scans', () => {
  test('sorted entries: added and deleted at random → any range as a sorted list gives it', () => {
    const entryArbitrary = fc.record({
      value: fc.oneof(fc.string({ unit: fc.constantFrom('a', 'b', 'c', '\uffff'), maxLength: 3 }), fc.nat(3)),
      key: fc.constantFrom('k', 'l'),
    });
    fc.assert(
      fc.property(
        fc.array(fc.tuple(fc.boolean(), entryArbitrary), { maxLength: 60, size: 'max' }),
        rangeArbitrary,
        fc.boolean(),
        (changes, range, reverse) => {
          const sorted = new SortedEntries();
          const plain = new Map<string, Entry>();
          for (const [isAdded, entry] of changes) {
            const name = JSON.stringify(entry);
            expect(isAdded ? sorted.add(entry) : sorted.delete(entry)).toBe(isAdded !== plain.has(name));
            if (isAdded) plain.set(name, entry);
            else plain.delete(name);
          }
          const expected = [...plain.values()].filter(({ value }) => isWithin(range, value)).toSorted(compareEntries);
          expect([...sorted.scan(range, reverse)]).toEqual(reverse ? expected.toReversed() : expected);
          expect(sorted.size).toBe(plain.size);
        },
      ),
      { numRuns: 500 },
    );
  });

  test('prefix: any characters → exactly what begins with it, between bounds of whole characters', () => {
    const unit = fc.constantFrom('a', 'b', '\ud7ff', '😀', '🟿', '\u{10ffff}', '\ue000', '\ufffe', '\uffff');
    const text = fc.string({ unit, maxLength: 4 });
    fc.assert(
      fc.property(text, text, (prefix, rest) => {
        const range = rangeOf('t', undefined, { prefix });
        expect(String(range.before)).not.toMatch(/\p{Surrogate}/u);
        for (const key of [rest, prefix + rest]) expect(isWithin(range, key)).toBe(key.startsWith(prefix));
      }),
      { numRuns: 2000 },
    );
  });

  test('sorted entries: thousands, over many chunks → in order from both ends', () => {
    const sorted = new SortedEntries();
    const keys = Array.from({ length: 5000 }, (_, index) => String((index * 7919) % 5000).padStart(5, '0'));
    for (const key of keys) sorted.add({ value: key, key });
    const inOrder = keys.toSorted();
    expect([...sorted.scan({ table: 't' })].map(({ key }) => key)).toEqual(inOrder);
    expect([...sorted.scan({ table: 't' }, true)].map(({ key }) => key)).toEqual(inOrder.toReversed());
    for (const key of keys) if (Number(key) % 2 === 0) sorted.delete({ value: key, key });
    const odd = inOrder.filter((key) => Number(key) % 2 === 1);
    expect([...sorted.scan({ table: 't', from: '02500' })].map(({ key }) => key)).toEqual(
      odd.filter((k) => k >= '02500'),
    );
  });

  test('overlay: effects in flight that come and go → as if applied to the store', () => {
    const tables = {
      rows: table(
        { n: counter(), title: register<string>(), items: queue<string>(), left: stock() },
        { indexes: ['title'], removable: true },
      ),
    };
    const on = (key: string, field: string, action: string, value?: unknown): Effect => ({
      table: 'rows',
      key,
      field,
      action,
      value,
    });
    const someEffect = fc
      .tuple(fc.constantFrom('a', 'b', 'c'), fc.constantFrom('x', 'y'), fc.nat(9))
      .map(
        ([key, value, kind]): Effect =>
          [
            on(key, 'n', 'add', 1),
            on(key, 'title', 'write', value),
            on(key, 'items', 'push', value),
            on(key, 'items', 'pop'),
            insertEffect('rows', key),
            removeEffect('rows', key),
            removeEffect('rows', key),
            on(key, 'n', 'add', 3),
            on(key, 'left', 'add', 2),
            on(key, 'left', 'take', { amount: 1, atLeast: 1 }),
          ][kind] as Effect,
      );
    const operations = fc.array(fc.array(someEffect, { minLength: 1, maxLength: 3 }), { maxLength: 6 });
    const show = (state: Store | Overlay): unknown => [
      ...['a', 'b', 'c'].map((key) => {
        const { size, at } = state.read('rows', key, 'items') as { size: number; at(index: number): unknown };
        const items = Array.from({ length: size }, (_, index) => at.call(state.read('rows', key, 'items'), index));
        return [
          state.has('rows', key),
          state.read('rows', key, 'n'),
          state.read('rows', key, 'title'),
          state.read('rows', key, 'left'),
          items,
        ];
      }),
      [...state.scan({ table: 'rows' }, false)],
      [...state.scan({ table: 'rows', from: 'b' }, true)],
      [...state.scan({ table: 'rows', field: 'title' }, false)],
    ];
    fc.assert(
      fc.property(operations, operations, fc.nat(6), (committed, pending, gone) => {
        let time = 0;
        const apply = (store: Store, effects: readonly Effect[]): void => {
          time += 1;
          const stamp = { time, site: siteAt(0), entry: siteAt(0), version: time, seen: [0, time] };
          for (const effect of effects) store.apply(effect, stamp);
        };
        const store = new Store(tables);
        const expected = new Store(tables);
        for (const effects of committed) for (const each of [store, expected]) apply(each, effects);
        const overlay = new Overlay(tables, store);
        for (const [owner, effects] of pending.entries()) overlay.add(owner, effects);
        if (gone < pending.length) overlay.remove(gone, pending[gone] ?? []);
        for (const [owner, effects] of pending.entries()) if (owner !== gone) apply(expected, effects);
        expect(show(overlay)).toEqual(show(expected));
        for (const [owner, effects] of pending.entries()) if (owner !== gone) overlay.remove(owner, effects);
        expect(overlay.isEmpty).toBe(true);
        expect(show(overlay)).toEqual(show(store));
      }),
      { numRuns: 1000 },
    );
  });
});
