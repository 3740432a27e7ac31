/** C8, C15: what one call chooses counts for it, and what a step submits is the step's, whatever was told meanwhile. */
import { expect, test } from 'vitest';
import { put } from '../../../src/operations/index.ts';
import { sharedReads } from '../../../src/policies/index.ts';
import { errorOf, failure, refuteBetweenAttempts, retry, setUp } from '../policies/support.ts';
import { manual } from './support.ts';

test('an update that is not to be tried again, of a client that shares reads → tried once', async () => {
  const { clock, binding, client } = setUp({ retry, shareReads: sharedReads() });
  const failed = errorOf(client.invoke(put('k', 1), { retry: false }));
  (await binding.next()).fail(failure());
  expect(await failed).toMatchObject({ code: 'UNAVAILABLE' });
  await clock.advance(1_000);
  expect(binding.calls).toHaveLength(1);
});

test('a step tells others something and then updates, and is undone between two attempts → not done any more', async () => {
  const all = setUp({ retry });
  const { c, sink } = manual<unknown>();
  c.onUpdate(() => {});
  await refuteBetweenAttempts(all, (job) => {
    sink.update(job, 'weak');
    return all.client.invoke(put('running', job));
  });
  expect(all.binding.calls).toHaveLength(3);
});
