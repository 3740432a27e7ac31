/** The shortest way through the library: a client, a store, and each way to see the views. */
import { expect, test } from 'vitest';
import { memory } from '../../../src/bindings/memory/index.ts';
import { correctable, createClient } from '../../../src/index.ts';
import { dequeue, enqueue, get, put } from '../../../src/operations/index.ts';

test('client: put, then get → callbacks, await and for await agree', async () => {
  const store = createClient(memory({ delaysMs: { weak: 0, strong: 1 } }));
  await store.invoke(put('k', { n: 1 }));
  const read = store.invoke(get<{ n: number }>('k'));
  const calls: string[] = [];
  read.onUpdate((value, view) => calls.push(`update ${view.level} ${JSON.stringify(value)}`));
  read.onFinal((value, view) => calls.push(`final ${view.level} ${JSON.stringify(value)}`));
  const levels: string[] = [];
  for await (const view of read) levels.push(view.level);
  expect(await read).toEqual({ n: 1 });
  expect(levels).toEqual(['weak', 'strong']);
  expect(calls.at(-1)).toBe('final strong {"n":1}');
  await store.close();
});

test('dequeue: enough left on the preliminary view → settled early', async () => {
  const store = createClient(memory({ delaysMs: { weak: 0, strong: 1 }, lagMs: 0 }));
  for (let seat = 0; seat < 3; seat++) await store.invoke(enqueue('seats', seat));
  const view = await store.invoke(dequeue('seats')).settle({ when: ({ meta }) => Number(meta?.['remaining']) > 1 });
  expect(view).toMatchObject({ final: false, level: 'weak', value: { item: 0 }, meta: { remaining: 2 } });
  await store.close();
});

test('speculate: the final differs → the run is undone and repeated on the final', async () => {
  const undone: number[] = [];
  const source = correctable<number>(['weak', 'strong'], (sink) => {
    sink.update(1, 'weak');
    setTimeout(() => sink.update(2, 'strong'), 1);
  });
  const result = source.speculate(async (n: number) => n * 10, (input) => void undone.push(input));
  expect(await result).toBe(20);
  expect(undone).toEqual([1]);
});
