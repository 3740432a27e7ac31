/** What the transactions of one client share, and what they must not share. */
// @rule TX-11
import { expect, test, vi } from 'vitest';
import { cached } from '../../../src/bindings/cache/index.ts';
import { memory } from '../../../src/bindings/memory/index.ts';
import type { Binding } from '../../../src/correctable/binding.ts';
import { createClient } from '../../../src/correctable/client/client.ts';
import { get, put } from '../../../src/operations/index.ts';
import { dedupeReads } from '../../../src/policies/index.ts';
import { transaction, type Transaction } from '../../../src/transactions/index.ts';

interface CountedBinding {
  readonly binding: Binding<readonly ['weak', 'strong']>;
  /** The names of the operations that were submitted, in their order. */
  readonly submitted: string[];
}

/** A store without sessions. */
function openCounted(): CountedBinding {
  const inner = memory({ delaysMs: { weak: 0, strong: 0 }, lagMs: 0 });
  const submitted: string[] = [];
  const binding: Binding<readonly ['weak', 'strong']> = {
    name: 'counted',
    consistencyLevels: () => ['weak', 'strong'],
    supports: (operation) => inner.supports(operation),
    submitOperation(operation, levels, sink, context) {
      submitted.push(operation.name);
      inner.submitOperation(operation, levels, sink, context);
    },
    close: () => inner.close(),
  };
  return { binding, submitted };
}

test('a function changes a value in place, then throws → the store has the value as it was', async () => {
  const client = createClient(openCounted().binding);
  await client.invoke(put('list', ['a']));
  const refused = transaction(client, async (tx) => {
    (await tx.get<string[]>('list'))!.push('b');
    throw new Error('refused');
  });
  await expect(refused).rejects.toMatchObject({ code: 'FINAL_FAILED' });
  expect(await client.invoke(get('list'))).toEqual(['a']);
});

test('a function changes a value in place, and runs again → the value is changed once', async () => {
  const client = createClient(openCounted().binding);
  await client.invoke(put('list', ['a']));
  await transaction(client, async (tx) => {
    const [list] = await tx.getMany<string[]>(['list', 'other']);
    list!.push('b');
    if (tx.attempt === 1) await client.invoke(put('other', 1));
    tx.put('list', list);
  });
  expect(await client.invoke(get('list'))).toEqual(['a', 'b']);
});

test('the client has dedupeReads → each transaction submits its own reads', async () => {
  const { binding, submitted } = openCounted();
  const client = createClient(binding, { dedupeReads: dedupeReads() });
  const refuse = (): PromiseLike<unknown> =>
    transaction(client, async (tx) => {
      await tx.get('k');
      throw new Error('refused');
    });
  await Promise.allSettled([refuse(), refuse()]);
  // Two of the functions, and two that confirm what these have read.
  expect(submitted).toEqual(Array(4).fill('readVersions'));
});

test('another user is signed in after a read → nothing is written as that user', async () => {
  const { binding, submitted } = openCounted();
  let user = 'ada';
  const client = createClient(cached(binding, { principal: () => user }));
  const writing = transaction(client, async (tx) => {
    await tx.get('k');
    user = 'bob';
    tx.put('k', 'by ada');
  });
  await expect(writing).rejects.toMatchObject({ code: 'UNAVAILABLE', retryable: false });
  expect(submitted).toEqual(['readVersions']);
});

test('many transactions at a time → they share the timers of their time limits', async () => {
  const client = createClient(openCounted().binding);
  const setTimeout = vi.spyOn(globalThis, 'setTimeout');
  const increment = (key: string): PromiseLike<unknown> =>
    transaction(client, async (tx) => tx.put(key, ((await tx.get<number>(key)) ?? 0) + 1));
  await Promise.all(Array.from({ length: 100 }, (_, at) => increment(`k${at}`)));
  const limits = setTimeout.mock.calls.filter(([, delayMs]) => delayMs! > 1_000);
  setTimeout.mockRestore();
  expect(limits.length).toBeLessThan(10);
});

test('canceled while its function runs → the next call rejects with ABORTED', async () => {
  const client = createClient(memory());
  const seen = new Promise<unknown>((resolve) => {
    const writing = transaction(client, (tx: Transaction) => {
      queueMicrotask(() => {
        writing.cancel();
        tx.get('k').then(undefined, resolve);
      });
      return new Promise(() => {});
    });
    writing.onError(() => {});
  });
  expect(await seen).toMatchObject({ code: 'ABORTED' });
});
