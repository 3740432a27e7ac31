/**
 * COR-8, COR-15: the options of a client and of one call; what a step invokes belongs to the step,
 * whatever its views trigger.
 */
import { expect, test } from 'vitest';
import { get, put } from '../../../src/operations/index.ts';
import { dedupeReads } from '../../../src/policies/index.ts';
import type { ScriptedBinding } from '../../../src/testing/index.ts';
import {
  errorOf,
  failure,
  refuteBetweenAttempts,
  retry,
  setUp,
  STEP_MS,
} from '../policies/support.ts';
import type { Three } from './support.ts';
import { manual } from './support.ts';

const keys = ({ calls }: ScriptedBinding<Three>): unknown[] =>
  calls.map(({ operation }) => operation.key);

test('a write that is not to be tried again, of a client that shares reads → tried once', async () => {
  const { clock, binding, client } = setUp({ retry, dedupeReads: dedupeReads() });
  const failed = errorOf(client.invoke(put('k', 1), { retry: false }));
  (await binding.next()).fail(failure());
  expect(await failed).toMatchObject({ code: 'UNAVAILABLE' });
  await clock.advance(1_000);
  expect(binding.calls).toHaveLength(1);
});

test.each([
  ['nothing', {}, 1],
  ['not to share it', { dedupeReads: false }, 2],
  ['not to try it again', { retry: false }, 2],
] as const)(
  'a read that one like it is in flight for, and its call chooses %s → its own choice counts',
  (_, how, submissions) => {
    const { binding, client } = setUp({ retry, dedupeReads: dedupeReads() });
    client.invoke(get('k'));
    client.invoke(get('k'), how);
    expect(binding.calls).toHaveLength(submissions);
  },
);

test('a write whose call chooses to share nothing → all the same, no read joins one from before it', () => {
  const { binding, client } = setUp({ dedupeReads: dedupeReads() });
  client.invoke(get('k'));
  client.invoke(put('k', 1), { dedupeReads: false });
  client.invoke(get('k'));
  expect(binding.calls.map(({ operation }) => operation.name)).toEqual(['get', 'put', 'get']);
});

test('another is signed in between two attempts → not tried again for that one', async () => {
  const { clock, binding, client } = setUp({ retry });
  let user = 'ann';
  Object.assign(binding, { principal: () => user });
  const failed = errorOf(client.invoke(get('k')));
  (await binding.next()).fail(failure());
  user = 'bob';
  await clock.advance(1_000);
  expect(await failed).toMatchObject({ code: 'UNAVAILABLE' });
  expect(binding.calls).toHaveLength(1);
});

test('the client is closed between two attempts → it fails at once, for good', async () => {
  const { binding, client } = setUp({ retry });
  const reported: unknown[] = [];
  client.invoke(get('k')).onError(({ code, retryable }) => reported.push([code, retryable]));
  (await binding.next()).fail(failure());
  expect(reported).toEqual([]);
  await client.close();
  expect(reported).toEqual([['UNAVAILABLE', false]]);
});

test('a step delivers a view to others and then writes, and is undone between two attempts → not done any more', async () => {
  const all = setUp({ retry });
  const { c, sink } = manual<unknown>();
  c.onUpdate(() => {});
  await refuteBetweenAttempts(all, (job) => {
    sink.view(job, 'weak');
    // Not returned: that it is of this run is all that is known of it.
    all.client.invoke(put('running', job)).onError(() => 0);
  });
  expect(all.binding.calls).toHaveLength(3);
});

test('a step delivers a view to others, which write, and is undone between two attempts → their writes are retried', async () => {
  const all = setUp({ retry });
  const { c, sink } = manual<unknown>();
  c.onUpdate((job) => void all.client.invoke(put('running', job)));
  await refuteBetweenAttempts(all, (job) => sink.view(job, job === 'job-1' ? 'weak' : 'causal'));
  expect(keys(all.binding)).toEqual(['next', 'running', 'running', 'running']);
  all.binding.calls.at(-1)!.view(null, 'strong');
});

test('a write beside a run that is undone → tried again', async () => {
  const { clock, binding, client } = setUp({ retry });
  const result = client.invoke(get('next')).speculate(() => 1);
  (await binding.next()).view('job-1', 'weak');
  const beside = client.invoke(put('beside', 1));
  result.cancel();
  (await binding.next()).fail(failure());
  await clock.advance(STEP_MS);
  (await binding.next()).view(null, 'strong');
  expect(await beside).toBe(null);
  expect(binding.calls).toHaveLength(3);
});

test('a step gives what writes later, and is undone between two attempts → not done any more', async () => {
  const { clock, binding, client } = setUp({ retry });
  const result = client.invoke(get('next')).speculate(
    (job) =>
      client.invoke(get('place')).chain(
        () => client.invoke(put('running', job)),
        () => {},
      ),
    () => {},
  );
  (await binding.next()).view('job-1', 'weak');
  (await binding.next()).view('here', 'strong');
  (await binding.next()).fail(failure());
  result.cancel();
  await clock.advance(1_000);
  expect(keys(binding)).toEqual(['next', 'place', 'running']);
});
