/** Each kind of field: concurrent changes in any order give one state. */
// @rule BS-O5
import { describe, expect, test } from 'vitest';
import type { Effect, Stamp } from '../../../../../src/server/service/records/effect.ts';
import { FIELD_KINDS } from '../../../../../src/server/service/fields/field-kinds.ts';
import type { FieldKindName } from '../../../../../src/server/service/fields/field.ts';
import { siteAt } from '../../../../support/origins.ts';
import { RED } from '../../../../../src/server/service/records/origin.ts';

type Change = readonly [action: string, value: unknown, stamp: Stamp];

/** A blue operation of the site at this place at `time`, whose generator had seen `seen`. */
const at = (place: number, time: number, seen: readonly number[] = [0, 0, 0, 0]): Stamp => ({
  time,
  site: siteAt(place),
  entry: siteAt(place),
  version: time,
  seen,
});

function stateAfter(kind: FieldKindName, changes: readonly Change[]) {
  const state = FIELD_KINDS[kind].state();
  for (const [action, value, stamp] of changes) {
    const effect: Effect = { table: 't', key: 'k', field: 'f', action, value };
    state.apply(effect, stamp);
  }
  return state;
}

function expectSame(kind: FieldKindName, changes: readonly Change[], value: unknown): void {
  const forward = stateAfter(kind, changes);
  const backward = stateAfter(kind, changes.toReversed());
  expect(forward.read()).toEqual(value);
  expect(backward.read()).toEqual(value);
  expect(JSON.stringify(backward.snapshot())).toBe(JSON.stringify(forward.snapshot()));
}

describe('fields', () => {
  test('counter: additions in any order → their sum', () => {
    expectSame(
      'counter',
      [
        ['add', 5, at(0, 1)],
        ['add', -2, at(1, 1)],
      ],
      3,
    );
  });

  test('counter: sums beyond what numbers hold exactly → the same in any order, and exact once they are back', () => {
    const large = Number.MAX_SAFE_INTEGER;
    const adding = (amounts: readonly number[]): Change[] =>
      amounts.map((amount, index) => ['add', amount, at(index % 3, index)]);
    expectSame('counter', adding([large, large, 1, 1, large]), Number(3n * BigInt(large) + 2n));
    expectSame('counter', adding([large, 1, 1, 1, -large]), 3);
    const saved = stateAfter('counter', adding([large, large, 1])).save();
    const loaded = FIELD_KINDS.counter.state(saved);
    loaded.apply({ table: 't', key: 'k', field: 'f', action: 'add', value: -large }, at(0, 9));
    loaded.apply({ table: 't', key: 'k', field: 'f', action: 'add', value: -large }, at(0, 10));
    expect(loaded.read()).toBe(1);
  });

  test('register: the later write wins; at one time, the higher site', () => {
    expectSame(
      'register',
      [
        ['write', 'a', at(1, 1)],
        ['write', 'b', at(0, 2)],
      ],
      'b',
    );
    expectSame(
      'register',
      [
        ['write', 'a', at(0, 7)],
        ['write', 'b', at(1, 7)],
      ],
      'b',
    );
  });

  test('register: one time at one site, given twice by a clock that was set back → the red write stands', () => {
    const red: Stamp = { ...at(0, 7), entry: RED, version: 3 };
    expectSame(
      'register',
      [
        ['write', 'blue', at(0, 7)],
        ['write', 'red', red],
      ],
      'red',
    );
  });

  test('set: an addition that the remover had not seen → stays', () => {
    const added: Change = ['add', 'x', at(0, 1)];
    const concurrent: Change = ['add', 'x', at(1, 1)];
    const removed: Change = ['remove', 'x', at(0, 2, [0, 1, 0, 0])];
    expect(stateAfter('set', [added, removed]).read()).toEqual(new Set());
    expect(stateAfter('set', [added, concurrent, removed]).read()).toEqual(new Set(['x']));
    expect(stateAfter('set', [added, removed, concurrent]).read()).toEqual(new Set(['x']));
  });

  test('log: lines in the order of their times, those of one operation as written', () => {
    expectSame(
      'log',
      [
        ['append', 'b', at(0, 2)],
        ['append', 'a', at(1, 1)],
        ['append', 'c', at(2, 2)],
      ],
      ['a', 'b', 'c'],
    );
    expect(
      stateAfter('log', [
        ['append', 'a', at(0, 1)],
        ['append', 'b', at(0, 1)],
      ]).read(),
    ).toEqual(['a', 'b']);
  });

  test('cell and queue: only red; effects yield what they found', () => {
    expect([
      FIELD_KINDS.cell.isRedOnly,
      FIELD_KINDS.queue.isRedOnly,
      FIELD_KINDS.counter.isRedOnly,
    ]).toEqual([true, true, false]);
    const effect = (action: string, value?: unknown): Effect => ({
      table: 't',
      key: 'k',
      field: 'f',
      action,
      value,
    });
    const cell = FIELD_KINDS.cell.state();
    expect([
      cell.apply(effect('assign', 1), at(0, 1)),
      cell.apply(effect('assign', 2), at(0, 2)),
    ]).toEqual([undefined, 1]);
    const queue = FIELD_KINDS.queue.state();
    expect(queue.apply(effect('push', 'a'), at(0, 1))).toEqual({ size: 1 });
    expect(queue.apply(effect('pop'), at(0, 2))).toEqual({ found: true, item: 'a', remaining: 0 });
    expect(queue.apply(effect('pop'), at(0, 3))).toEqual({ found: false, remaining: 0 });
  });
});

describe('pending effects', () => {
  const cases: Record<
    'set' | 'log',
    readonly [base: unknown, effects: [string, unknown][], shown: unknown]
  > = {
    set: [
      new Set(['x']),
      [
        ['add', 'y'],
        ['remove', 'x'],
      ],
      new Set(['y']),
    ],
    log: [
      ['a'],
      [
        ['append', 'b'],
        ['append', 'c'],
      ],
      ['a', 'b', 'c'],
    ],
  };
  for (const [name, [base, effects, shown]] of Object.entries(cases)) {
    test(`${name}: shown over the committed value; removed in any order → the committed value`, () => {
      for (const order of [
        [1, 2],
        [2, 1],
      ]) {
        const pending = FIELD_KINDS[name as FieldKindName].pending();
        for (const [index, [action, value]] of effects.entries()) {
          pending.append(index + 1, { table: 't', key: 'k', field: 'f', action, value }, base);
        }
        expect(pending.applyTo(base)).toEqual(shown);
        for (const owner of order) pending.remove(owner);
        expect([pending.isEmpty, pending.applyTo(base)]).toEqual([true, base]);
      }
    });
  }
});
