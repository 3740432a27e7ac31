/**
 * The cache keeps the views of the store behind, even if callers change the values that they get
 * (docs/spec/cache.md, CACHE-7).
 */
import { describe, expect, test } from 'vitest';
import { get } from '../../../../src/operations/index.ts';
import { setUp } from './set-up.ts';

type Listed = { list: number[] };

/** Changes every value that it gets, in place. */
function spoil({
  value,
  meta,
  version,
}: {
  value: unknown;
  meta?: unknown;
  version?: unknown;
}): void {
  (value as Listed).list.splice(1);
  (meta as Listed).list.splice(1);
  (version as { t: number }).t = 9;
}

const input = (): { value: Listed; details: { version: { t: number }; meta: Listed } } => ({
  value: { list: [1, 2, 3] },
  details: { version: { t: 1 }, meta: { list: [1, 2] } },
});

const KEPT = { value: { list: [1, 2, 3] }, version: { t: 1 }, meta: { list: [1, 2] } };

describe('callers that change views in place', () => {
  test.each([
    ['a view, which is confirmed', ['weak'], 'strong'],
    ['a view, and its confirmation, which is confirmed again', ['tentative', 'weak'], 'strong'],
    ['the final', [], undefined],
    ['a view of which a weaker one was shown', ['weak'], undefined],
  ] as const)('%s → kept as the store behind returned it', async (_what, levels, confirmed) => {
    const { store, client } = setUp();
    const read = client.invoke(get('k'));
    read.onUpdate((_value, view) => spoil(view));
    const { value, details } = input();
    const { sink } = store.last;
    let seq: number | undefined;
    for (const level of levels) {
      if (seq === undefined) seq = sink.view(value, level, details);
      else sink.confirm(level, seq, { meta: { list: [1, 2] } });
      await Promise.resolve();
    }
    if (confirmed === undefined) {
      const last = input();
      read.onFinal((_value, view) => spoil(view));
      sink.view(last.value, 'strong', last.details);
    } else sink.confirm(confirmed, seq as number);
    await read;
    const cached = client.invokeWeak(get('k'));
    expect(await cached.settle()).toMatchObject(KEPT);
    spoil(await cached.settle());
    expect(await client.invokeWeak(get('k')).settle()).toMatchObject(KEPT);
  });
});

test('very many views of one operation → the latest 1024 can be confirmed, and no older one', async () => {
  const { store, client } = setUp();
  const [late, lost] = [client.invoke(get('late')), client.invoke(get('lost'))];
  for (const { sink } of store.submitted) for (let n = 0; n <= 1024; n += 1) sink.view(n, 'weak');
  const [first, second] = store.submitted;
  first?.sink.confirm('strong', 1);
  second?.sink.confirm('strong', 0);
  expect(await late).toBe(1);
  await expect(lost).rejects.toMatchObject({ code: 'PROTOCOL' });
});
