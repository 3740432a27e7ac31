/** The portable operations are plain data, and refuse what no store could use. */
import { expect, test } from 'vitest';
import { dequeue, enqueue, get, getMany, peek, put } from '../../../src/operations/index.ts';

test('builders: each → its name, arguments, effect and key', () => {
  expect(get('k')).toEqual({ name: 'get', args: { key: 'k' }, access: 'read', key: 'k' });
  expect(put('k', 1)).toEqual({
    name: 'put',
    args: { key: 'k', value: 1 },
    access: 'write',
    key: 'k',
  });
  expect(getMany(['a', 'b'])).toEqual({
    name: 'getMany',
    args: { keys: ['a', 'b'] },
    access: 'read',
    key: 'a',
  });
  expect(enqueue('q', 1)).toEqual({
    name: 'enqueue',
    args: { queue: 'q', item: 1 },
    access: 'write',
    key: 'q',
  });
  expect(peek('q')).toEqual({ name: 'peek', args: { queue: 'q' }, access: 'read', key: 'q' });
  expect(dequeue('q')).toMatchObject({
    name: 'dequeue',
    args: { queue: 'q' },
    access: 'write',
    key: 'q',
  });
});

test('builders: what crosses a wire → survives JSON', () => {
  for (const operation of [
    get('k'),
    put('k', { n: 1 }),
    getMany(['a']),
    enqueue('q', 'i'),
    dequeue('q'),
    peek('q'),
  ]) {
    const { equals: _stays, ...data } = operation;
    expect(JSON.parse(JSON.stringify(data))).toEqual(data);
  }
});

test('getMany: the list changes afterwards → the operation does not', () => {
  const keys = ['a'];
  const operation = getMany(keys);
  keys.push('b');
  expect(operation.args).toEqual({ keys: ['a'] });
  expect(getMany([])).not.toHaveProperty('key');
});

test('dequeue of any item: equals → both or neither null; of the one that comes: by its content', () => {
  expect(dequeue('q')).not.toHaveProperty('equals');
  const equals = dequeue('q', { anyItem: true }).equals as (a: unknown, b: unknown) => boolean;
  expect(equals({ item: 1 }, { item: 2 })).toBe(true);
  expect(equals(null, null)).toBe(true);
  expect(equals({ item: 1 }, null)).toBe(false);
  expect(equals(null, { item: 1 })).toBe(false);
});

test('builders: invalid names → INVALID_ARGUMENT with the field', () => {
  const refuses = (build: () => unknown, field: string): void =>
    expect(build).toThrow(expect.objectContaining({ code: 'INVALID_ARGUMENT', field }));
  refuses(() => get(''), 'key');
  refuses(() => put(undefined as never, 1), 'key');
  refuses(() => getMany(['a', '']), 'keys[1]');
  refuses(() => getMany('k' as never), 'keys');
  refuses(() => enqueue('', 1), 'queue');
  refuses(() => dequeue(7 as never), 'queue');
  refuses(() => peek(''), 'queue');
});
