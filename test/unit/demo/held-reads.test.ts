/** Reads whose confirmed answer is held, so that a change comes before it. */
import { createClient } from 'correctables';
import { memory } from 'correctables/bindings/memory';
import { get, put } from 'correctables/operations';
import { expect, test } from 'vitest';
import { holdReads } from '../../../demo/shared/page/held-reads.ts';

test('a change after the early answer → it is in the confirmed answers of all ways', async () => {
  const { binding, holdUntil } = holdReads(memory({ delaysMs: { weak: 0, strong: 0 }, lagMs: 0 }));
  const store = createClient(binding);
  await store.invoke(put('references', 'old'));
  let release = (): void => {};
  holdUntil(new Promise((resolve) => (release = resolve)));

  const strong = store.invokeStrong(get('references'));
  const views: unknown[] = [];
  const early = store.invoke(get('references')).onUpdate((value) => {
    views.push(value);
    void store.invoke(put('references', 'new')).onFinal(release);
  });
  expect([await early, await strong, views]).toEqual(['new', 'new', ['old']]);

  holdUntil(undefined);
  expect(await store.invoke(get('references'))).toBe('new');
  await store.close();
});
