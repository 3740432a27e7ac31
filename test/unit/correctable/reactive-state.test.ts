/** COR-12: clients, sessions and Correctables that are kept in the state of a framework. */
import { expect, test } from 'vitest';
import { createClient } from '../../../src/index.ts';
import { get, put } from '../../../src/operations/index.ts';
import { memory } from '../../../src/bindings/memory/index.ts';
import { tiered } from '../../../src/bindings/tiered/index.ts';

/**
 * Wraps plain objects and instances of classes, deep, as Vue does; what has a tag of its own stays
 * as it is.
 */
function reactive<T extends object>(target: T): T {
  return new Proxy(target, {
    get(from, name, receiver) {
      const value: unknown = Reflect.get(from, name, receiver);
      const tag = Object.prototype.toString.call(value);
      return tag === '[object Object]' || tag === '[object Array]'
        ? reactive(value as object)
        : value;
    },
  });
}

/** Copies plain objects, deep, as MobX does: getters stay getters, and are called on the copy. */
function observable<T>(value: T): T {
  if (
    typeof value !== 'object' ||
    value === null ||
    Object.getPrototypeOf(value) !== Object.prototype
  )
    return value;
  const copy = {};
  for (const name of Reflect.ownKeys(value)) {
    const property = Object.getOwnPropertyDescriptor(value, name)!;
    if ('value' in property) property.value = observable(property.value);
    Object.defineProperty(copy, name, property);
  }
  return copy as T;
}

/**
 * Wraps the objects in it as it is made, instances of classes too, but nothing that can be
 * iterated, as valtio does.
 */
function proxied<T extends object>(target: T): T {
  for (const name of Reflect.ownKeys(target)) {
    const property = Object.getOwnPropertyDescriptor(target, name)!;
    const value: unknown = property.value;
    if (
      !property.writable ||
      typeof value !== 'object' ||
      value === null ||
      Symbol.iterator in value
    )
      continue;
    Reflect.set(target, name, proxied(value));
  }
  return new Proxy(target, {});
}

/** Freezes plain objects and arrays, deep, and what their getters return, as Immer does. */
function frozen<T>(value: T): T {
  const tag = Object.getPrototypeOf(value ?? Object.prototype) as unknown;
  if (
    typeof value !== 'object' ||
    value === null ||
    (tag !== Object.prototype && !Array.isArray(value))
  )
    return value;
  Object.values(Object.freeze(value)).forEach(frozen);
  return value;
}

const LIBRARIES: Readonly<Record<string, <T extends object>(value: T) => T>> = {
  reactive,
  observable,
  proxied,
  frozen,
};

test.each(Object.entries(LIBRARIES))(
  'COR-12: %s keeps a client and a session → both work, and count',
  async (_, keep) => {
    const store = createClient(memory());
    const state = keep({ store, session: store.session() });
    const { session } = state;
    await state.store.invoke(put('k', { n: 1 }), { session });
    expect(await state.store.invoke(get('k'), { session })).toEqual({ n: 1 });
    expect(state.store.stats.confirmed + state.store.stats.corrected).toBeGreaterThan(0);
    session.close();
    expect(
      await state.store.invoke(get('k'), { session }).then(undefined, (error: unknown) => error),
    ).toMatchObject({
      field: 'session',
    });
    await state.store.close();
  },
);

test.each(Object.entries(LIBRARIES))(
  'COR-12: %s keeps a Correctable → it can be used as it is',
  async (_, keep) => {
    const store = createClient(tiered(['weak', 'strong'], { weak: () => 1, strong: () => 2 }));
    const { read } = keep({ read: store.invoke(get<number>('k'), { timeoutMs: 100 }) });
    const seen: unknown[] = [];
    read.onUpdate((value) => seen.push(value));
    for await (const { level } of read) seen.push(level);
    expect(await Promise.all([read, read.map(String), read.speculate((value) => value)])).toEqual([
      2,
      '2',
      2,
    ]);
    expect(seen).toEqual([1, 'weak', 'strong']);
  },
);

test.each(Object.entries(LIBRARIES))(
  'COR-12: %s keeps a binding → a client of it works',
  async (_, keep) => {
    const state = keep({ binding: memory() });
    const store = createClient(state.binding);
    await store.invoke(put('k', 1));
    expect(await store.invoke(get('k'), { session: store.session() })).toBe(1);
    await store.close();
  },
);

test('COR-12: a Correctable in a proxy that wraps all → INVALID_ARGUMENT', () => {
  const store = createClient(memory());
  const read = new Proxy(store.invoke(get('k')), {});
  expect(() => read.state).toThrow(expect.objectContaining({ code: 'INVALID_ARGUMENT' }));
});
