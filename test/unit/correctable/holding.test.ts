/**
 * COR-1, COR-9: an operation keeps the process alive until its timeout, even without listeners,
 * unless a view was taken early.
 */
import { expect, test } from 'vitest';
import { all, createClient } from '../../../src/index.ts';
import { get } from '../../../src/operations/index.ts';
import { scriptedBinding } from '../../../src/testing/scripted-binding.ts';
import { LEVELS } from './support.ts';

/** A client whose one timer shows whether it holds the process. */
function setUp() {
  const holds: boolean[] = [];
  const timer = { cancel: () => {}, setRef: (isHeld: boolean) => void holds.push(isHeld) };
  const binding = scriptedBinding(LEVELS);
  const client = createClient(binding, { clock: { now: () => 0, setTimer: () => timer } });
  return { holds, binding, client };
}

test('COR-1: a listener has unsubscribed → the process is held as before', () => {
  const { holds, client } = setUp();
  client
    .invoke(get('k'))
    .subscribe(() => {})
    .unsubscribe();
  expect(holds).toEqual([]);
});

test('COR-1: a join has failed by another part → held as before', async () => {
  const { holds, binding, client } = setUp();
  const joined = all([client.invoke(get('a')), client.invoke(get('b'))]);
  joined.onError(() => {});
  (await binding.next()).fail(new Error('disk'));
  expect(joined.state).toBe('error');
  expect(holds).toEqual([]);
});

test('COR-9: a view was taken early → held no longer', async () => {
  const { holds, binding, client } = setUp();
  const read = client.invoke(get('k'));
  (await binding.next()).view(1, 'weak');
  await read.when('weak');
  expect(holds).toEqual([false]);
});
