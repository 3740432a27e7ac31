/** A queue and its operations in flight: one that leaves does not affect the others. */
import { expect, test } from 'vitest';
import {
  getWrittenObjects,
  InFlightWrites,
  type PendingWrite,
} from '../../../../src/bindings/memory/memory-store.ts';
import { ItemQueue } from '../../../../src/bindings/memory/replica.ts';
import { put, type PutArgs } from '../../../../src/operations/index.ts';

test('thousands come and go → each in its turn, also of a copy', () => {
  const queue = new ItemQueue();
  const expected = Array.from({ length: 3000 }, (_, item) => item);
  for (const item of expected) queue.push(item);
  for (let turn = 0; expected.length > 0; turn += 1) {
    expect([queue.length, queue.at(0), queue.at(1)]).toEqual([
      expected.length,
      expected[0],
      expected[1],
    ]);
    if (turn % 500 === 0)
      expect([queue.copy().length, queue.copy().at(0)]).toEqual([expected.length, expected[0]]);
    queue.shift();
    expected.shift();
    if (turn >= 2000 || turn % 5 > 0) continue;
    queue.push(`late ${turn}`);
    expected.push(`late ${turn}` as never);
  }
  expect(queue.length).toBe(0);
});

test('writes of one object in flight, one is done → the others are there, in their order', () => {
  const inFlight = new InFlightWrites();
  const [first, second, third] = ['a', 'b', 'c'].map((value) => {
    const operation = put('k', value);
    const update: PendingWrite = { operation, writes: getWrittenObjects(operation) };
    inFlight.add(update);
    return update;
  }) as [PendingWrite, PendingWrite, PendingWrite];
  const names = (before: PendingWrite): unknown[] =>
    inFlight.getEarlier(before).map(({ args }) => (args as PutArgs).value);
  expect(names(third)).toEqual(['a', 'b']);
  inFlight.remove(first);
  inFlight.remove(first);
  expect([names(second), names(third)]).toEqual([[], ['b']]);
});
