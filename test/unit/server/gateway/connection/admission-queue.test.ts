/** The turns of submissions that wait to be decided, when one of them does not wait any more. */
import { describe, expect, test } from 'vitest';
import { AdmissionQueue } from '../../../../../src/server/gateway/connection/admission-queue.ts';
import {
  LoadSlot,
  ReceivedFrame,
} from '../../../../../src/server/gateway/limits/in-flight-load.ts';
import { turn } from '../listen/raw-socket.ts';
import { newLoad } from '../operations/submission-doubles.ts';

function start() {
  const log: unknown[] = [];
  const load = newLoad();
  const queue = new AdmissionQueue(() => log.push('empty'));
  const decisions = new Map<number, (rejection?: Error) => void>();
  const add = (id: number): void => {
    const decision = new Promise<void>((resolve, reject) => {
      decisions.set(id, (rejection) => (rejection === undefined ? resolve() : reject(rejection)));
    });
    queue.add(id, decision, new LoadSlot(load, new ReceivedFrame(1)), (rejection) =>
      log.push([id, rejection]),
    );
  };
  for (const id of [1, 2, 3]) add(id);
  const decide = async (id: number, rejection?: Error): Promise<void> => {
    decisions.get(id)?.(rejection);
    await turn();
  };
  return { queue, load, log, decide };
}

describe('admission queue', () => {
  test('the first is removed → those behind it that are decided have their turn', async () => {
    const { queue, log, decide } = start();
    const rejection = new Error('no');
    await decide(2, rejection);
    await decide(3);
    expect(log).toEqual([]);
    queue.remove(1);
    expect(log).toEqual([[2, rejection], [3, undefined], 'empty']);
  });

  test('one in the middle is removed → the others go on in their order', async () => {
    const { queue, log, decide } = start();
    await decide(3);
    queue.remove(2);
    expect(log).toEqual([]);
    await decide(1);
    expect(log).toEqual([[1, undefined], [3, undefined], 'empty']);
  });

  test('reports once that it is empty, when its last item is removed', () => {
    const { queue, log } = start();
    for (const id of [3, 1, 2, 2]) queue.remove(id);
    expect(log).toEqual(['empty']);
  });

  test('a removed item keeps its place until its decision ends; nothing is reported then', async () => {
    const { queue, load, log, decide } = start();
    await decide(2);
    queue.remove(2);
    expect([load.operations, queue.size]).toEqual([2, 2]);
    queue.clear();
    await decide(1);
    await decide(3, new Error('no'));
    expect([load.operations, queue.size, log]).toEqual([0, 0, []]);
  });
});
