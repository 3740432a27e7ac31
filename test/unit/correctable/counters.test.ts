/** COR-15: what a client counts of its operations. */
import { expect, test } from 'vitest';
import { all, createClient } from '../../../src/index.ts';
import { get } from '../../../src/operations/index.ts';
import { scriptedBinding } from '../../../src/testing/scripted-binding.ts';
import { codeOf, LEVELS, settled } from './support.ts';

const NONE = {
  confirmed: 0,
  corrected: 0,
  earlyConfirmed: 0,
  earlyCorrected: 0,
  speculationsWon: 0,
  speculationsLost: 0,
  retried: 0,
  deduped: 0,
};

test('COR-15: finals after a preliminary view → confirmed or corrected, each once; others count as neither', async () => {
  const binding = scriptedBinding(LEVELS);
  const client = createClient(binding);
  expect(client.stats).toEqual(NONE);
  const answer = async (...values: readonly number[]): Promise<void> => {
    const read = client.invoke(get('k'));
    const call = await binding.next();
    for (const [at, value] of values.entries()) call.view(value, LEVELS[3 - values.length + at]!);
    await read;
  };
  await answer(1);
  expect(client.stats).toEqual(NONE);
  await answer(1, 1);
  expect(client.stats).toEqual({ ...NONE, confirmed: 1 });
  // The final view corrects the last view, however often that was corrected before.
  await answer(1, 2, 3);
  await answer(1, 2, 2);
  expect(client.stats).toEqual({ ...NONE, confirmed: 2, corrected: 1 });
  const failed = codeOf(client.invoke(get('k')));
  const call = await binding.next();
  call.view(1, 'weak');
  call.fail(new Error('disk'));
  await failed;
  expect(client.stats).toEqual({ ...NONE, confirmed: 2, corrected: 1 });
});

test('COR-15: what is made of an operation → counts with it, not again', async () => {
  const binding = scriptedBinding(LEVELS);
  const client = createClient(binding);
  const read = client.invoke(get<number>('k'));
  const made = all([read.map(String), read.map(Number)]).map(([text]) => text);
  const call = await binding.next();
  call.view(1, 'weak');
  call.view(2, 'strong');
  await made;
  expect(client.stats).toEqual({ ...NONE, corrected: 1 });
});

test('COR-15: runs on a preliminary view → won once confirmed, lost once refuted; runs on the final are neither', async () => {
  const binding = scriptedBinding(LEVELS);
  const client = createClient(binding);
  const speculated = async (...values: readonly number[]): Promise<void> => {
    const result = client.invoke(get('k')).speculate((value) => value);
    const call = await binding.next();
    for (const [at, value] of values.entries()) {
      call.view(value, LEVELS[3 - values.length + at]!);
      await settled();
    }
    await result;
  };
  const won = () => [client.stats.speculationsWon, client.stats.speculationsLost];
  await speculated(1);
  expect(won()).toEqual([0, 0]);
  await speculated(1, 1, 1);
  expect(won()).toEqual([1, 0]);
  await speculated(1, 2, 2);
  expect(won()).toEqual([2, 1]);
  await speculated(1, 2, 3);
  expect(won()).toEqual([2, 3]);
});

test('COR-15: counters of one client → not of another of the same binding', async () => {
  const binding = scriptedBinding(LEVELS);
  const [item, other] = [createClient(binding), createClient(binding)];
  const read = item.invoke(get('k'));
  const call = await binding.next();
  call.view(1, 'weak');
  call.confirm('strong', 0);
  await read;
  expect([item.stats.confirmed, other.stats.confirmed]).toEqual([1, 0]);
});
