/**
 * Lists that grow at the end and shrink at the front, and the windows of operations made of them.
 */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { Fifo } from '../../../../../src/server/service/collections/fifo.ts';
import { OperationWindow } from '../../../../../src/server/site/parts/lookups/operation-window.ts';

describe('fifo', () => {
  test('any pushes, shifts and insertions → as an array would have it, at every moment', () => {
    const step = fc.oneof(
      { weight: 5, arbitrary: fc.record({ push: fc.integer() }) },
      { weight: 4, arbitrary: fc.constant('shift' as const) },
      { weight: 1, arbitrary: fc.record({ insert: fc.integer(), at: fc.nat(20) }) },
    );
    fc.assert(
      fc.property(fc.array(step, { maxLength: 200, size: 'max' }), (steps) => {
        const [list, expected] = [new Fifo<number>(), [] as number[]];
        for (const item of steps) {
          if (item === 'shift') expect(list.shift()).toBe(expected.shift());
          else if ('push' in item) list.push(item.push);
          else list.insert(Math.min(item.at, list.size), item.insert);
          if (item !== 'shift' && 'push' in item) expected.push(item.push);
          if (item !== 'shift' && 'insert' in item)
            expected.splice(Math.min(item.at, expected.length), 0, item.insert);
          expect(list.slice()).toEqual(expected);
          expect([list.size, list.at(0), list.at(-1)]).toEqual([
            expected.length,
            expected[0],
            undefined,
          ]);
          expect(list.slice(1, 3)).toEqual(expected.slice(1, 3));
        }
      }),
    );
  });

  test('long and short again → what is left is still in order', () => {
    const list = new Fifo<number>();
    for (let item = 0; item < 10_000; item += 1) list.push(item);
    for (let item = 0; item < 9_990; item += 1) expect(list.shift()).toBe(item);
    for (let item = 10_000; item < 10_010; item += 1) list.push(item);
    expect(list.slice()).toEqual(Array.from({ length: 20 }, (_, index) => 9_990 + index));
  });
});

describe('operation window', () => {
  test('operations in any order, with gaps → found by number, taken from the smallest up', () => {
    const numbers = fc.uniqueArray(fc.integer({ min: 1, max: 60 }), { maxLength: 40 });
    fc.assert(
      fc.property(numbers, fc.integer({ min: 0, max: 60 }), (sequences, upTo) => {
        const window = new OperationWindow<{ readonly sequence: number }>();
        for (const sequence of sequences) window.add({ sequence });
        const sorted = sequences.toSorted((a, b) => a - b);
        expect(window.all().map(({ sequence }) => sequence)).toEqual(sorted);
        for (let sequence = 0; sequence <= 61; sequence += 1) {
          expect(window.get(sequence)?.sequence).toBe(
            sequences.includes(sequence) ? sequence : undefined,
          );
        }
        const taken: number[] = [];
        for (let { first } = window; (first?.sequence ?? Infinity) <= upTo; { first } = window) {
          taken.push(first!.sequence);
          window.shift();
        }
        expect(taken).toEqual(sorted.filter((sequence) => sequence <= upTo));
        expect(window.size).toBe(sequences.length - taken.length);
      }),
    );
  });
});
