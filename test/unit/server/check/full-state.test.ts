/** States compared in full. */
import { describe, expect, test } from 'vitest';
import { findDifferingRow, isSameState } from '../../../../src/server/check/run-interleaving.ts';
import { HERE, StampGenerator } from '../../../../src/server/check/analysis-site.ts';
import type { Effect } from '../../../../src/server/service/records/effect.ts';
import { register, table } from '../../../../src/server/service/tables.ts';
import { Store } from '../../../../src/server/service/state/store.ts';

const tables = { notes: table({ text: register<string>() }, { removable: true }) };
const write = (key: string, value: string): Effect => ({
  table: 'notes',
  key,
  field: 'text',
  action: 'write',
  value,
});
const remove = (key: string): Effect => ({ table: 'notes', key, field: '', action: 'remove' });

/** A store with these effects, one operation each. */
function storeOf(...effects: readonly Effect[]): Store {
  const store = new Store(tables);
  const stamps = new StampGenerator();
  for (const effect of effects) store.apply(effect, stamps.next(HERE, false));
  return store;
}

describe('two states', () => {
  test('of the same operations are the same', () => {
    expect(
      isSameState(storeOf(write('a', 'x'), remove('b')), storeOf(write('a', 'x'), remove('b'))),
    ).toBe(true);
  });

  test('with other rows are not: the row is named', () => {
    const [a, b] = [
      storeOf(write('a', 'x'), write('b', 'x')),
      storeOf(write('a', 'x'), write('b', 'y')),
    ];
    expect(isSameState(a, b)).toBe(false);
    expect(findDifferingRow(a, b, [write('a', 'x'), write('b', 'x')])).toEqual({
      table: 'notes',
      key: 'b',
    });
  });

  test('with another text in a row that was removed before → that row is named', () => {
    const [a, b] = ['x', 'y'].map((text) => storeOf(remove('a'), write('a', text))) as [
      Store,
      Store,
    ];
    expect(findDifferingRow(a, b, [remove('a')])).toEqual({ table: 'notes', key: 'a' });
  });

  test('differ if only one remembers a removal, though both show nothing', () => {
    const [a, b] = [storeOf(write('a', 'x'), remove('a')), storeOf()];
    expect(a.snapshot()).toEqual(b.snapshot());
    expect(isSameState(a, b)).toBe(false);
    expect(findDifferingRow(a, b, [remove('a')])).toEqual({ table: 'notes', key: 'a' });
  });
});
