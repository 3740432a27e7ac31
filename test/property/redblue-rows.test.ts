/**
 * Rows: sites that apply the same operations in different orders agree, also after they were saved
 * and restored.
 */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  type Effect,
  type Stamp,
  createInsertEffect,
  isRemoval,
  createRemoveEffect,
} from '../../src/server/service/records/effect.ts';
import { TableStore } from '../../src/server/service/state/table-store.ts';
import { counter, log, register, set, table } from '../../src/server/service/tables.ts';
import { getSiteIndex, siteAt, sitesTo } from '../support/origins.ts';
import { sharesOf, testShares, unnoted, type Note } from '../support/property-shares.ts';
import type { Origin } from '../../src/server/service/records/origin.ts';
import { scaleRuns } from '../support/lane.ts';

const notes = table(
  { n: counter(), title: register<string>(), tags: set<string>(), lines: log<string>() },
  { indexes: ['title', 'tags'], removable: true },
);

const keyArbitrary = fc.constantFrom('a', 'b');
const effectArbitrary: fc.Arbitrary<Effect> = fc
  .record({
    key: keyArbitrary,
    value: fc.constantFrom('x', 'y', 'z'),
    amount: fc.integer({ min: -5, max: 5 }),
  })
  .chain(({ key, value, amount }) => {
    const on = (field: string, action: string, input: unknown): Effect => ({
      table: 'notes',
      key,
      field,
      action,
      value: input,
    });
    return fc.constantFrom(
      on('n', 'add', amount),
      on('title', 'write', value),
      on('tags', 'add', value),
      on('tags', 'remove', value),
      on('lines', 'append', value),
      createInsertEffect('notes', key),
      createRemoveEffect('notes', key),
      createRemoveEffect('notes', key),
    );
  });

interface Operation {
  readonly stamp: Stamp;
  readonly effects: readonly Effect[];
}

/**
 * Operations of two sites. Each has seen all earlier ones of its own site and some prefix of the
 * other's; its time is above all of those.
 */
const historyArbitrary: fc.Arbitrary<readonly Operation[]> = fc
  .array(
    fc.record({
      site: fc.integer({ min: 0, max: 1 }),
      sees: fc.constantFrom(0, 0, 0, 1, 1, 2, 8),
      pause: fc.nat(3),
      effects: fc.array(effectArbitrary, { minLength: 1, maxLength: 3 }),
    }),
    { minLength: 4, maxLength: 12, size: 'max' },
  )
  .map((drafts) => {
    const operations: Operation[] = [];
    const getScannedRange = [
      [0, 0, 0],
      [0, 0, 0],
    ];
    for (const { site, sees, pause, effects } of drafts) {
      const seen = getScannedRange[site] as number[];
      const other = 1 - site;
      const others = operations.filter(({ stamp }) => stamp.site === siteAt(other)).slice(0, sees);
      // What another site's operation had seen is seen with it.
      for (const { stamp } of others)
        for (const entry of sitesTo(2))
          seen[entry] = Math.max(seen[entry] ?? 0, stamp.seen[entry] ?? 0);
      const time = Math.max(...seen) + 1 + pause;
      const origin = siteAt(site);
      seen[origin] = time;
      operations.push({
        stamp: { time, site: origin, entry: origin, version: time, seen: [...seen] },
        effects,
      });
    }
    return operations;
  });

/**
 * All of them in an order that keeps causality, choosing by `picks` among those that may come next.
 */
function ordered(operations: readonly Operation[], picks: readonly number[]): readonly Operation[] {
  const inOrder: Operation[] = [];
  const stable = [0, 0, 0];
  const otherOf = (site: Origin): Origin => siteAt(1 - getSiteIndex(site));
  const left = [...operations];
  for (let turn = 0; left.length > 0; turn += 1) {
    const ready = left.filter(({ stamp }) => {
      const isNext = !left.some(
        (other) => other.stamp.site === stamp.site && other.stamp.time < stamp.time,
      );
      const other = otherOf(stamp.site);
      return isNext && (stamp.seen[other] ?? 0) <= (stable[other] ?? 0);
    });
    const next = ready[(picks[turn % picks.length] ?? 0) % ready.length] as Operation;
    inOrder.push(next);
    stable[next.stamp.site] = next.stamp.time;
    left.splice(left.indexOf(next), 1);
  }
  return inOrder;
}

function applied(operations: readonly Operation[]): TableStore {
  const store = new TableStore('notes', notes, () => {});
  for (const { effects, stamp } of operations)
    for (const effect of effects) store.apply(effect, stamp);
  return store;
}

/** Whether one removes a row that the other changes, and neither has seen the other. */
function removesBeside(item: Operation, other: Operation): boolean {
  const hasSeen = (a: Operation, b: Operation): boolean =>
    (a.stamp.seen[b.stamp.site] ?? 0) >= b.stamp.time;
  if (item.stamp.site === other.stamp.site || hasSeen(item, other) || hasSeen(other, item))
    return false;
  const removed = item.effects.filter(isRemoval).map(({ key }) => key);
  return other.effects.some((effect) => !isRemoval(effect) && removed.includes(effect.key));
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

const inAnyOrder = (note: Note): fc.IRawProperty<unknown> =>
  fc.property(historyArbitrary, picksArbitrary, picksArbitrary, (operations, first, second) => {
    const [item, other] = [ordered(operations, first), ordered(operations, second)];
    const store = applied(item);
    expect(everything(applied(other))).toEqual(everything(store));
    if (item.some((operation, at) => operation !== other[at])) note('two orders');
    if (operations.some((a) => operations.some((b) => removesBeside(a, b))))
      note('a removal beside a change');
    if (store.has('a') || store.has('b')) note('a row is left');
  });

const savedAtAnyPoint = (note: Note): fc.IRawProperty<unknown> =>
  fc.property(historyArbitrary, fc.nat(11), (operations, draw) => {
    const cut = 1 + (draw % operations.length);
    const store = applied(ordered(operations.slice(0, cut), [0]));
    const restored = new TableStore('notes', notes, () => {});
    store.changes.closeChanges();
    const saved = store.changes.takeClosed(Infinity);
    for (const [key, row] of saved) restored.restore(key, JSON.parse(JSON.stringify(row)));
    expect(everything(restored)).toEqual(everything(store));
    if (saved.length > 0 && cut < operations.length) note('rows are restored, and more comes');
    if (saved.some(([key]) => !store.has(key))) note('a row is restored that is gone');
    for (const { effects, stamp } of operations.slice(cut)) {
      for (const effect of effects) for (const item of [store, restored]) item.apply(effect, stamp);
    }
    expect(everything(restored)).toEqual(everything(store));
  });

describe('rows', () => {
  test('applied in any causal order → one state, with removals too', async () => {
    await fc.assert(inAnyOrder(unnoted), { numRuns: scaleRuns(2000) });
  });

  testShares('the orders → two in most runs, with removals beside changes', async () => {
    const shares = await sharesOf(inAnyOrder);
    for (const description of ['two orders', 'a removal beside a change', 'a row is left']) {
      expect(shares[description], description).toBeGreaterThan(0.6);
    }
  });

  test('an indexed set of 20 000 → each addition costs what one does, not what the set holds', () => {
    const store = new TableStore('notes', notes, () => {});
    const add = (index: number): void => {
      const stamp = {
        time: index,
        site: siteAt(0),
        entry: siteAt(0),
        version: index,
        seen: [0, index - 1],
      };
      store.apply(
        { table: 'notes', key: 'a', field: 'tags', action: 'add', value: `t${index}` },
        stamp,
      );
    };
    // Were each to look at all, this would take minutes.
    for (let index = 1; index <= 20_000; index += 1) add(index);
    expect([...store.scan({ table: 'notes', field: 'tags' }, false)]).toHaveLength(20_000);
    const removal = {
      time: 30_000,
      site: siteAt(0),
      entry: siteAt(0),
      version: 30_000,
      seen: [0, 20_000],
    };
    store.apply(createRemoveEffect('notes', 'a'), removal);
    expect([...store.scan({ table: 'notes', field: 'tags' }, false)]).toEqual([]);
  });

  test('saved and restored at any point → the same state then and later', async () => {
    await fc.assert(savedAtAnyPoint(unnoted), { numRuns: scaleRuns(500) });
  });

  testShares(
    'the points → mostly rows are restored and changed, and some of them are gone',
    async () => {
      const shares = await sharesOf(savedAtAnyPoint);
      expect(shares['rows are restored, and more comes']).toBeGreaterThan(0.6);
      expect(shares['a row is restored that is gone']).toBeGreaterThan(0.25);
    },
  );
});
