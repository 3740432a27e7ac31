import { describe, expect, test } from 'vitest';
import type { Binding, Sink } from '../../../src/index.ts';
import { correctableFromValue, createClient } from '../../../src/index.ts';
import { get } from '../../../src/operations/index.ts';
import { virtualClock } from '../../../src/testing/virtual-clock.ts';
import { heldBytes, manual, settled } from './support.ts';

const TWO = ['weak', 'strong'] as const;

test('trap: what once ran is kept for ever → steps on 2,500 refined inputs leave nothing behind', async () => {
  const { c, sink } = manual<number>({ isRefining: true });
  const chained = c.chain((n) => correctableFromValue(Array.from({ length: 1000 }, () => n)));
  const before = heldBytes();
  for (let n = 0; n < 2_500; n += 1) {
    sink.view(n, 'weak');
    // A refuted run is undone before the next one begins.
    await settled();
  }
  // As many values as are kept for confirmations.
  expect(heldBytes() - before).toBeLessThan(14_000_000);
  sink.view(-1, 'strong');
  expect((await chained)[0]).toBe(-1);
});

describe('trap: what is over keeps what it was for', () => {
  /** How many of `refs` are held by something. */
  const heldOf = (refs: readonly WeakRef<object>[]): number => {
    heldBytes();
    return refs.filter((ref) => ref.deref() !== undefined).length;
  };

  test('a Correctable that has closed and is kept → its callbacks are not', async () => {
    const refs: WeakRef<object>[] = [];
    const watched = (): (() => void) => {
      const page = { seen: 0 };
      refs.push(new WeakRef(page));
      return () => void (page.seen += 1);
    };
    const { c, sink } = manual<number>();
    c.onUpdate(watched())
      .onFinal(watched())
      .onError(watched())
      .onFinal(watched())
      .subscribe(watched());
    sink.view(1, 'weak');
    sink.view(2, 'strong');
    await settled();
    expect(heldOf(refs)).toBe(0);
    expect(await c).toBe(2);
  });

  test('an operation hangs, others with its limit have closed → their values are not', async () => {
    const refs: WeakRef<object>[] = [];
    const answer = (sink: Sink): void => {
      const value = { page: refs.length };
      refs.push(new WeakRef(value));
      sink.view(value, 'strong');
    };
    const binding: Binding<typeof TWO> = {
      name: 'forgetful',
      consistencyLevels: () => TWO,
      supports: () => true,
      submitOperation: ({ key }, _levels, sink) =>
        key === 'hangs' ? undefined : answer(sink as Sink),
      close: async () => {},
    };
    const client = createClient(binding, { clock: virtualClock() });
    const hanging = client.invoke(get('hangs'));
    for (let n = 0; n < 50; n += 1) await client.invoke(get('k'));
    await settled();
    // The list of deadlines is tidied once half of it is over.
    expect(heldOf(refs)).toBeLessThan(3);
    hanging.onError(() => 0).cancel();
  });
});
