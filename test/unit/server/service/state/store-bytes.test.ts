/** How many bytes a store counts: the same after any history, and after a restart. */
// @rule STO-33
import { expect, test } from 'vitest';
import { Random } from '../../../../../src/server/service/collections/random.ts';
import { measureValue } from '../../../../../src/server/service/records/memory-bytes.ts';
import { RED, Origins, type Origin } from '../../../../../src/server/service/records/origin.ts';
import { Store } from '../../../../../src/server/service/state/store.ts';
import {
  boundedCounter,
  cell,
  counter,
  log,
  queue,
  register,
  set,
  stock,
  table,
} from '../../../../../src/server/service/tables.ts';

const SITES = Origins.create(['here', 'there']).sites;
const tables = {
  kept: table(
    { register: register<string>(), set: set<string>(), bounded: boundedCounter({ min: 0 }) },
    { indexes: ['register', 'set'] },
  ),
  removable: table(
    {
      register: register<string>(),
      counter: counter(),
      set: set<string>(),
      log: log<unknown>(),
      cell: cell<unknown>(),
      queue: queue<unknown>(),
      stock: stock(),
    },
    { removable: true, indexes: ['register', 'set'] },
  ),
};
const RED_ACTIONS = { cell: ['assign'], queue: ['push', 'pop'], stock: ['add'] };
const BLUE_ACTIONS = {
  register: ['write'],
  counter: ['add'],
  set: ['add', 'remove'],
  log: ['append'],
  bounded: ['give'],
};

function pick<T>(random: Random, items: readonly T[]): T {
  return items[random.between(0, items.length - 1)] as T;
}

function drawValue(random: Random, field: string): unknown {
  if (['counter', 'stock', 'bounded'].includes(field)) return random.between(0, 9);
  const text = 'x'.repeat(random.between(0, 40));
  return field === 'set' || random.chance(0.5) ? text : { text, list: [1, text] };
}

/** Applies one random effect, with a stamp that may be older than those before it. */
function applyRandom(store: Store, random: Random, step: number): void {
  const name = pick(random, ['kept', 'removable'] as const);
  const key = `row ${random.between(0, 5)}`;
  const isRemoval = name === 'removable' && random.chance(0.2);
  const field = pick(random, Object.keys(tables[name].fields));
  const isRed = Object.hasOwn(RED_ACTIONS, field);
  const site = pick(random, SITES);
  const version = isRed ? step : Math.max(1, step - random.between(0, 20));
  const stamp = { time: version, site, entry: isRed ? RED : site, version, seen: [0, 0, 0] };
  if (isRemoval) {
    store.apply({ table: name, key, field: '', action: 'remove' }, stamp);
    return;
  }
  const actions = { ...RED_ACTIONS, ...BLUE_ACTIONS }[field] as readonly string[];
  const effect = { table: name, key, field, action: pick(random, actions) };
  store.apply({ ...effect, value: drawValue(random, field) }, stamp);
}

function restore(store: Store): Store {
  store.changeAll();
  store.closeChanges();
  const restored = new Store(tables);
  restored.restore(new Map(store.takeClosed(Infinity).filter(([, value]) => value !== undefined)));
  return restored;
}

test('a store counts the same bytes as one that is restored from it, whatever was done', () => {
  for (let seed = 1; seed <= 60; seed += 1) {
    const random = new Random(seed);
    const store = new Store(tables);
    for (let step = 1; step <= 120; step += 1) {
      applyRandom(store, random, step);
      if (step % 40 === 0) store.forgetRemovals([step / 2, step / 2, step / 2]);
    }
    expect(restore(store).bytes, `seed ${seed}`).toBe(store.bytes);
  }
});

test('a store without rows counts nothing again once its removals are forgotten', () => {
  const store = new Store(tables);
  const site = SITES[0] as Origin;
  const stampAt = (time: number) => ({ time, site, entry: site, version: time, seen: [0, 0, 0] });
  for (const field of ['register', 'set', 'log', 'counter'] as const) {
    const action = BLUE_ACTIONS[field][0] as string;
    store.apply({ table: 'removable', key: 'a', field, action, value: 1 }, stampAt(1));
  }
  expect(store.bytes).toBeGreaterThan(500);
  expect(store.measureTables()).toEqual([
    ['removable', store.bytes],
    ['kept', 0],
  ]);
  store.apply({ table: 'removable', key: 'a', field: '', action: 'remove' }, stampAt(2));
  store.forgetRemovals([2, 2, 2]);
  expect(store.bytes).toBe(0);
});

test('a text counts one byte a character, or two if one of them needs two', () => {
  const narrow = 'a'.repeat(1000);
  const [one, two] = [measureValue(narrow), measureValue(`${narrow}\u{20ac}`)];
  expect(one).toBeLessThan(1100);
  expect(two).toBeGreaterThan(2000);
});
