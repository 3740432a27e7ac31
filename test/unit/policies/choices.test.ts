/** C8, C15: what one call chooses counts for it, and what a step submits is the step's, whatever was told meanwhile. */
import { expect, test } from 'vitest';
import { get, put } from '../../../src/operations/index.ts';
import { sharedReads } from '../../../src/policies/index.ts';
import { manual } from '../correctable/support.ts';
import { errorOf, failure, retry, setUp } from './support.ts';

test('an update that is not to be tried again, of a client that shares reads → tried once', async () => {
  const { clock, binding, client } = setUp({ retry, shareReads: sharedReads() });
  const failed = errorOf(client.invoke(put('k', 1), { retry: false }));
  (await binding.next()).fail(failure());
  expect(await failed).toMatchObject({ code: 'UNAVAILABLE' });
  await clock.advance(1_000);
  expect(binding.calls).toHaveLength(1);
});

test('a step tells others something and then updates, and is undone between two attempts → not done any more', async () => {
  const { clock, binding, client } = setUp({ retry });
  const { c, sink } = manual<unknown>();
  c.onUpdate(() => {});
  const result = client.invoke(get('next')).speculate(
    (job) => {
      sink.update(job, 'weak');
      return client.invoke(put('running', job));
    },
    () => {},
  );
  const read = await binding.next();
  read.view('job-1', 'weak');
  (await binding.next()).fail(failure());
  read.view('job-2', 'strong');
  (await binding.next()).view(null, 'strong');
  await result;
  await clock.advance(1_000);
  expect(binding.calls).toHaveLength(3);
});
