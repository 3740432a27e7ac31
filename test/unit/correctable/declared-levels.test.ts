/**
 * COR-2: what levels a binding or an executor may declare, and that each operation keeps to its
 * own.
 */
import { describe, expect, test } from 'vitest';
import {
  createLevelOrder,
  requestLevels,
  checkLevel,
  areSameNames,
} from '../../../src/correctable/level-order.ts';
import { correctable, createClient, type Levels } from '../../../src/index.ts';
import { get } from '../../../src/operations/index.ts';
import { scriptedBinding } from '../../../src/testing/index.ts';

describe('COR-2: levels that are none', () => {
  test.each([
    ['no list', 'strong'],
    ['an empty list', []],
    ['a name that is empty, first', ['', 'strong']],
    ['a name that is empty, later', ['weak', '']],
    ['a name twice', ['weak', 'strong', 'weak']],
    ['a name that is no text', ['weak', 3]],
  ])('%s → INVALID_ARGUMENT', (_, levels) => {
    const wrong = levels as unknown as Levels;
    const refused = expect.objectContaining({ code: 'INVALID_ARGUMENT', field: 'levels' }) as Error;
    expect(() => createLevelOrder(wrong)).toThrow(refused);
    expect(() => correctable(wrong, () => {})).toThrow(refused);
  });

  test.each([
    ['no list', 'weak'],
    ['an empty list', []],
  ])('%s is requested → INVALID_ARGUMENT', (_, levels) => {
    expect(() =>
      requestLevels(createLevelOrder(['weak', 'strong']), levels as unknown as Levels),
    ).toThrow(expect.objectContaining({ code: 'INVALID_ARGUMENT', field: 'levels' }) as Error);
  });
});

test('COR-2: what is requested → in the order of the binding, up to the strongest of them', () => {
  const levelOrder = createLevelOrder(['cache', 'weak', 'strong']);
  expect(levelOrder).toEqual({
    all: ['cache', 'weak', 'strong'],
    requested: ['cache', 'weak', 'strong'],
    strongestRank: 2,
  });
  expect(requestLevels(levelOrder, ['weak', 'cache'])).toEqual({
    ...levelOrder,
    requested: ['cache', 'weak'],
    strongestRank: 1,
  });
  expect(levelOrder.all.map((level) => checkLevel(levelOrder, level, 'levels'))).toEqual([0, 1, 2]);
  expect(() => checkLevel(levelOrder, 'other', 'level')).toThrow(
    'level: unknown level "other". Levels: cache, weak, strong.',
  );
  expect(() => requestLevels(levelOrder, ['wek'])).toThrow(
    'levels: unknown level "wek". Did you mean "weak"? Levels: cache, weak, strong.',
  );
});

test('COR-2: levels that a binding changes later → those that it declared', () => {
  const levels = ['weak', 'strong'];
  const levelOrder = createLevelOrder(levels);
  levels.push('more');
  expect(levelOrder.all).toEqual(['weak', 'strong']);
});

test('COR-2: levels are the same → only where all are, in the same order', () => {
  expect(areSameNames(['a', 'b'], ['a', 'b'])).toBe(true);
  for (const other of [['a'], ['a', 'b', 'c'], ['b', 'a'], ['a', 'c'], ['c', 'b'], []]) {
    expect(areSameNames(['a', 'b'], other)).toBe(false);
    expect(areSameNames(other, ['a', 'b'])).toBe(false);
  }
});

test('COR-2: Correctables of different levels, one after the other → each has its own', async () => {
  for (const levels of [
    ['weak', 'strong'],
    ['weak', 'other'],
    ['weak'],
    ['other', 'strong'],
    ['weak', 'strong'],
  ]) {
    const made = correctable<number, Levels>(levels as unknown as Levels, (sink) => {
      for (const level of levels) sink.view(levels.length, level);
    });
    expect(await made).toBe(levels.length);
    expect(made.latest).toMatchObject({ level: levels.at(-1), final: true });
  }
});

test('COR-2: a level is requested twice → asked for once', async () => {
  const binding = scriptedBinding(['weak', 'strong']);
  const read = createClient(binding).invoke(get('k'), {
    levels: ['strong', 'strong'] as unknown as ['strong'],
  });
  const call = await binding.next();
  expect(call.levels).toEqual(['strong']);
  call.view(1, 'strong');
  expect(await read).toBe(1);
});
