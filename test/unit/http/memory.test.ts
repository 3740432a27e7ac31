/** What is left of replies that have ended: nothing. */
import { expect, test } from 'vitest';
import { fetchViews, respondWithViews } from '../../../src/http/index.ts';
import { correctable } from '../../../src/index.ts';
import { readable } from '../../../src/store/index.ts';
import { collectGarbage } from '../../support/garbage.ts';

const LEVELS = ['weak', 'strong'] as const;

async function expectCollected(refs: readonly WeakRef<object>[]): Promise<void> {
  await expect
    .poll(() => {
      collectGarbage();
      return refs.filter((ref) => ref.deref() !== undefined).length;
    })
    .toBeLessThan(5);
}

test('300 replies, of which a third is canceled and a third fails → nothing is left on either side', async () => {
  const signal = new AbortController().signal;
  const refs: WeakRef<object>[] = [];
  async function exchange(n: number): Promise<void> {
    const { correctable: served, sink } = correctable(LEVELS).withSink<number>();
    served.catch(() => {});
    const serve = (_url: unknown, init?: RequestInit) =>
      respondWithViews(served, {
        request: new Request('https://shop.test/', init),
        onError: () => {},
      });
    const views = fetchViews(LEVELS)('/', { fetch: serve as unknown as typeof fetch, signal });
    refs.push(new WeakRef(served), new WeakRef(views));
    sink.view(n, 'weak');
    await views.settle({ enough: () => true });
    if (n % 3 === 0) views.cancel();
    else if (n % 3 === 1) sink.fail(new Error('down'));
    else sink.view(n, 'strong');
    await Promise.allSettled([views, served]);
  }
  for (let n = 0; n < 300; n++) await exchange(n);
  await expectCollected(refs);
});

test('300 subscribers of a store that have left → nothing is left of them', async () => {
  const { correctable: views } = correctable(LEVELS).withSink<number>();
  const store = readable(views);
  const refs: WeakRef<object>[] = [];
  for (let n = 0; n < 300; n++) {
    const component = { n };
    refs.push(new WeakRef(component));
    store.subscribe(() => void component.n)();
  }
  await expectCollected(refs);
  expect(views.state).toBe('pending');
});
