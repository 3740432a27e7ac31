/**
 * Effects in flight, laid over a store, show what the store would if they were applied; they come
 * and go.
 */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { structurallyEqual } from '../../src/correctable/structural-equality.ts';
import {
  type Effect,
  createInsertEffect,
  isRemoval,
  createRemoveEffect,
} from '../../src/server/service/records/effect.ts';
import { counter, queue, register, stock, table } from '../../src/server/service/tables.ts';
import { Overlay } from '../../src/server/service/state/overlay.ts';
import { Store } from '../../src/server/service/state/store.ts';
import { siteAt } from '../support/origins.ts';
import { onceEach, sharesOf, testShares, unnoted, type Note } from '../support/property-shares.ts';
import { scaleRuns } from '../support/lane.ts';

const tables = {
  rows: table(
    { n: counter(), title: register<string>(), items: queue<string>(), left: stock() },
    { indexes: ['title'], removable: true },
  ),
};
const KEYS = ['a', 'b', 'c', 'd'];
const on = (key: string, field: string, action: string, value?: unknown): Effect => ({
  table: 'rows',
  key,
  field,
  action,
  value,
});
const someEffect = fc
  .tuple(fc.constantFrom(...KEYS), fc.constantFrom('x', 'y'), fc.nat(9))
  .map(
    ([key, value, kind]): Effect =>
      [
        on(key, 'n', 'add', 1),
        on(key, 'title', 'write', value),
        on(key, 'items', 'push', value),
        on(key, 'items', 'pop'),
        createInsertEffect('rows', key),
        createRemoveEffect('rows', key),
        createRemoveEffect('rows', key),
        on(key, 'n', 'add', 3),
        on(key, 'left', 'add', 2),
        on(key, 'left', 'take', { amount: 1, atLeast: 1 }),
      ][kind] as Effect,
  );
const operation = fc.array(someEffect, { minLength: 1, maxLength: 3 });
/**
 * Events of an overlay: an operation starts, one of those leaves, one is committed beneath, a read
 * comes.
 */
const change = fc.oneof(
  { weight: 4, arbitrary: fc.record({ add: operation }) },
  { weight: 2, arbitrary: fc.record({ remove: fc.nat(3) }) },
  { weight: 1, arbitrary: fc.record({ commit: operation }) },
  { weight: 2, arbitrary: fc.constant({ look: true as const }) },
);
const shown = (state: Store | Overlay): unknown => [
  ...KEYS.map((key) => {
    const { size, at } = state.read('rows', key, 'items') as {
      size: number;
      at(index: number): unknown;
    };
    const items = Array.from({ length: size }, (_, index) =>
      at.call(state.read('rows', key, 'items'), index),
    );
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

/** A store with one operation after the other. */
class Applied {
  readonly store = new Store(tables);
  #time = 0;

  constructor(operations: Iterable<readonly Effect[]>) {
    for (const effects of operations) this.apply(effects);
  }

  apply(effects: readonly Effect[]): void {
    const time = (this.#time += 1);
    const stamp = { time, site: siteAt(0), entry: siteAt(0), version: time, seen: [0, time] };
    for (const effect of effects) this.store.apply(effect, stamp);
  }
}

const overlaid = (note: Note): fc.IRawProperty<unknown> =>
  fc.property(
    fc.array(operation, { maxLength: 6 }),
    fc.array(change, { minLength: 4, maxLength: 16, size: 'max' }),
    (before, changes) => {
      const once = onceEach(note);
      const committed = [...before];
      const beneath = new Applied(committed);
      const overlay = new Overlay(tables, beneath.store);
      const inFlight = new Map<number, readonly Effect[]>();
      let hasLooked = false;
      const look = (): void => {
        const over = shown(overlay);
        expect(over).toEqual(shown(new Applied([...committed, ...inFlight.values()]).store));
        if (inFlight.size > 0) hasLooked = true;
        if (!structurallyEqual(over, shown(beneath.store)))
          once('the overlay shows something else than the store');
      };
      const isBare = ({ table, key }: Effect): boolean => !overlay.covers(table, key);
      const remove = (owner: number): void => {
        const effects = inFlight.get(owner) ?? [];
        inFlight.delete(owner);
        overlay.remove(owner, effects);
        if (hasLooked && inFlight.size > 0 && effects.some(isBare))
          once('a row goes after a look, others stay');
      };
      for (const [at, item] of changes.entries()) {
        if ('add' in item) {
          if (hasLooked && item.add.some(isBare)) once('a row comes after a look');
          if (item.add.some(isRemoval) && committed.length > 0) once('a removal in flight');
          inFlight.set(at, item.add);
          overlay.add(at, item.add);
        } else if ('remove' in item) {
          const owner = [...inFlight.keys()][item.remove];
          if (owner === undefined) continue;
          if (inFlight.size > item.remove + 1) once('one goes before later ones');
          remove(owner);
        } else if ('commit' in item) {
          if (inFlight.size > 0) once('the store changes beneath');
          committed.push(item.commit);
          beneath.apply(item.commit);
        } else look();
      }
      look();
      for (const owner of inFlight.keys()) remove(owner);
      expect(overlay.isEmpty).toBe(true);
      look();
    },
  );

test('effects in flight that come and go, looked at in between → as if applied to the store', async () => {
  await fc.assert(overlaid(unnoted), { numRuns: scaleRuns(500) });
});

testShares(
  'what is in flight → changes what is shown, comes after a look, and goes before the others',
  async () => {
    const shares = await sharesOf(overlaid);
    expect(shares['the overlay shows something else than the store']).toBeGreaterThan(0.6);
    for (const description of [
      'one goes before later ones',
      'a removal in flight',
      'a row comes after a look',
      'a row goes after a look, others stay',
      'the store changes beneath',
    ]) {
      expect(shares[description], description).toBeGreaterThan(0.3);
    }
  },
);
