import { expect, test } from 'vitest';
import {
  ResidentCache,
  type CachedItem,
} from '../../../../../src/server/service/state/resident-cache.ts';

interface Item extends CachedItem {
  readonly name: string;
}

/** A cache of items of one byte each, of which some may not leave. */
function createCache(maxBytes: number, staying: ReadonlySet<string> = new Set()) {
  const cache = new ResidentCache(maxBytes);
  const left: string[] = [];
  const owner = {
    release: (item: CachedItem) => {
      const { name } = item as Item;
      if (staying.has(name)) return false;
      left.push(name);
      cache.count(-1);
      return true;
    },
  };
  const add = (name: string): Item => {
    const item = { owner, name, isUsed: false };
    cache.add(item);
    cache.count(1);
    return item;
  };
  return { add, left };
}

test('more than fits → the oldest leave', () => {
  const { add, left } = createCache(2);
  for (const name of ['a', 'b', 'c']) add(name);
  expect(left).toEqual([]);
  add('d');
  expect(left).toEqual(['a']);
});

test('an item that was used → stays for one more look', () => {
  const { add, left } = createCache(1);
  const first = add('a');
  add('b');
  first.isUsed = true;
  add('c');
  expect(left).toEqual(['b']);
  expect(first.isUsed).toBe(false);
  add('d');
  expect(left).toEqual(['b', 'a']);
});

test('items that may not leave → others do, and one call looks at few', () => {
  const names = Array.from({ length: 100 }, (_, at) => `dirty ${at}`);
  const { add, left } = createCache(0, new Set(names));
  for (const name of [...names, 'a']) add(name);
  expect(left).toEqual([]);
  for (let at = 0; at < 20; at += 1) add('b');
  expect(left).toContain('a');
});
