/** Transactions on the memory binding: what the function sees, and what its caller gets. */
// @rule TX-1, TX-2, TX-3, TX-4, TX-5, TX-6, TX-7, TX-8, TX-9, TX-10
import { describe, expect, test } from 'vitest';
import { cached } from '../../../src/bindings/cache/index.ts';
import { memory, memoryStore } from '../../../src/bindings/memory/index.ts';
import { tiered } from '../../../src/bindings/tiered/index.ts';
import type { Binding, Sink } from '../../../src/correctable/binding.ts';
import { createClient, type Client } from '../../../src/correctable/client/client.ts';
import { CorrectableError } from '../../../src/correctable/errors.ts';
import type { Operation } from '../../../src/correctable/operation.ts';
import { commit, get, getMany, put } from '../../../src/operations/index.ts';
import {
  transaction,
  type Transaction,
  type TransactionOptions,
} from '../../../src/transactions/index.ts';

type MemoryClient = Client<readonly ['weak', 'strong']>;

/** A site whose copy has each write when the primary has it, and one whose copy lags for good. */
function openSites(): { near: MemoryClient; lagging: MemoryClient } {
  const store = memoryStore();
  const delaysMs = { weak: 0, strong: 0 };
  const near = createClient(memory({ store, delaysMs, lagMs: 0 }));
  const lagging = createClient(memory({ store, delaysMs, lagMs: 1e9 }));
  return { near, lagging };
}

interface CountedStore {
  readonly client: MemoryClient;
  /** The operations that were submitted, in their order. */
  readonly submitted: Operation[];
}

type SubmitHook = (operation: Operation, sink: Sink) => boolean;

/** `hook` answers an operation itself if it returns true. */
function openCounted(hook: SubmitHook = () => false): CountedStore {
  const inner = memory({ delaysMs: { weak: 0, strong: 0 }, lagMs: 0 });
  const submitted: Operation[] = [];
  const binding: Binding<readonly ['weak', 'strong']> = {
    name: 'counted',
    consistencyLevels: () => ['weak', 'strong'],
    supports: (operation) => inner.supports(operation),
    submitOperation(operation, levels, sink, context) {
      submitted.push(operation);
      if (!hook(operation, sink as Sink)) inner.submitOperation(operation, levels, sink, context);
    },
    close: () => inner.close(),
  };
  return { client: createClient(binding), submitted };
}

const read = (client: MemoryClient, ...keys: string[]): Promise<unknown[]> =>
  Promise.resolve(client.invokeStrong(getMany(keys)));

describe('the function', () => {
  test('reads and writes → a preliminary view, then the final one, and the store has both writes', async () => {
    const { near } = openSites();
    await near.invoke(put('a', 10));
    const views: unknown[] = [];
    const transfer = transaction(near, async (tx) => {
      const [a = 0, b = 0] = await tx.getMany<number>(['a', 'b']);
      tx.put('a', a - 3);
      tx.put('b', b + 3);
      return a - 3;
    });
    for await (const { value, level, final } of transfer) views.push([value, level, final]);
    expect(views).toEqual([
      [7, 'weak', false],
      [7, 'strong', true],
    ]);
    expect(await read(near, 'a', 'b')).toEqual([7, 3]);
  });

  test('what it read is written meanwhile → it runs again, and no update is lost', async () => {
    const { near } = openSites();
    const attempts: number[] = [];
    const total = await transaction(near, async (tx) => {
      attempts.push(tx.attempt);
      const count = (await tx.get<number>('count')) ?? 0;
      if (tx.attempt === 1) await near.invoke(put('count', 5));
      tx.put('count', count + 1);
      return count + 1;
    });
    expect([total, attempts, await read(near, 'count')]).toEqual([6, [1, 2], [6]]);
  });

  test('a key that is written without a read → not checked', async () => {
    const { near } = openSites();
    const run = async (tx: { put(key: string, value: unknown): void; attempt: number }) => {
      await near.invoke(put('k', 'other'));
      tx.put('k', 'mine');
      return tx.attempt;
    };
    expect(await transaction(near, run)).toBe(1);
    expect(await read(near, 'k')).toEqual(['mine']);
  });

  test('its own writes → seen by its reads', async () => {
    const { near } = openSites();
    const seen = await transaction(near, async (tx) => {
      tx.put('k', 1);
      const own = await tx.get('k');
      const [first, second] = await tx.getMany(['k', 'other']);
      return [own, first, second];
    });
    expect(seen).toEqual([1, 1, undefined]);
  });

  test('a second read after a commit of both keys → never a mix of two states (rule 2)', async () => {
    const { near } = openSites();
    await near.invoke(
      commit(
        [],
        [
          { key: 'a', value: 0 },
          { key: 'b', value: 0 },
        ],
      ),
    );
    const seen: unknown[] = [];
    await transaction(near, async (tx) => {
      const a = await tx.get('a');
      if (tx.attempt === 1)
        await near.invoke(
          commit(
            [],
            [
              { key: 'a', value: 1 },
              { key: 'b', value: 1 },
            ],
          ),
        );
      seen.push([a, await tx.get('b')]);
    });
    expect(seen).toEqual([[1, 1]]);
  });

  test('it catches the error of a read that has changed → it runs again all the same', async () => {
    const { near } = openSites();
    const result = await transaction(near, async (tx) => {
      await tx.get('a');
      if (tx.attempt === 1) await near.invoke(put('a', 1));
      const b = await tx.get('b').catch(() => 'caught');
      return [tx.attempt, b];
    });
    expect(result).toEqual([2, undefined]);
  });

  test('reads of one tick → one request, and what is known does not travel again', async () => {
    const { client, submitted } = openCounted();
    await client.invoke(put('a', 'long text'));
    await transaction(client, async (tx) => {
      await Promise.all([tx.get('a'), tx.get('b'), tx.getMany(['a', 'c'])]);
      await tx.get('a');
      return tx.get('d');
    });
    const reads = submitted.filter(({ name }) => name === 'readVersions').map(({ args }) => args);
    expect(reads).toEqual([
      { keys: ['a', 'b', 'c'] },
      { keys: ['a', 'b', 'c', 'd'], known: [1, 0, 0, null] },
    ]);
  });

  test('reads that begin while another is in flight → wait for it, one request for all', async () => {
    const { client, submitted } = openCounted();
    await transaction(client, async (tx) => {
      const first = tx.get('a');
      await Promise.resolve();
      await Promise.resolve();
      await Promise.all([first, tx.get('b'), tx.get('c')]);
    });
    const reads = submitted.map(({ args }) => (args as { keys: string[] }).keys);
    expect(reads).toEqual([['a'], ['a', 'b', 'c']]);
  });

  test('calls after it has returned → INVALID_ARGUMENT', async () => {
    const { near } = openSites();
    const { tx } = await transaction(near, (tx) => ({ tx }));
    await expect(tx.get('k')).rejects.toMatchObject({ code: 'INVALID_ARGUMENT', field: 'tx' });
    expect(() => tx.put('k', 1)).toThrow(expect.objectContaining({ field: 'tx' }));
  });

  test.each([
    ['an empty key', 'key', ''],
    ['no value', 'value', undefined],
    ['a promise', 'value', Promise.resolve(1)],
  ])('it puts %s → INVALID_ARGUMENT with the field', async (_, field, value) => {
    const { near } = openSites();
    const writing = transaction(near, (tx) => tx.put(field === 'key' ? '' : 'k', value));
    await expect(writing).rejects.toMatchObject({ code: 'INVALID_ARGUMENT', field });
  });

  test('more than 1,000 keys → INVALID_ARGUMENT with the field', async () => {
    const { near } = openSites();
    const keys = Array.from({ length: 600 }, (_, at) => `k${at}`);
    const reading = transaction(near, async (tx) => {
      await tx.getMany(keys);
      for (const key of keys) tx.put(`other ${key}`, 1);
    });
    await expect(reading).rejects.toMatchObject({ code: 'INVALID_ARGUMENT', field: 'keys' });
  });
});

describe('views', () => {
  test('no writes → one view, final, at the level of the reads', async () => {
    const { near } = openSites();
    const reading = transaction(near, (tx) => tx.get('k'));
    const views = [];
    for await (const { level, final } of reading) views.push([level, final]);
    expect(views).toEqual([['weak', true]]);
  });

  test('no writes, at the strongest level → what has changed is read again', async () => {
    const { near, lagging } = openSites();
    await near.invoke(put('k', 'new'));
    expect(await transaction(lagging, (tx) => tx.get('k'))).toBeUndefined();
    const reading = transaction(lagging, (tx) => tx.get('k'), { level: 'strong' });
    expect(await reading).toBe('new');
    expect(reading.latest?.level).toBe('strong');
  });

  test('a near copy that lags → its preliminary view is corrected by the next run', async () => {
    const { near, lagging } = openSites();
    await near.invoke(put('left', 3));
    const taking = transaction(lagging, async (tx) => {
      const left = (await tx.get<number>('left')) ?? 0;
      tx.put('left', left - 1);
      return left - 1;
    });
    const views: unknown[] = [];
    for await (const { value, level } of taking) views.push([value, level]);
    expect(views[0]).toEqual([-1, 'weak']);
    expect(views.at(-1)).toEqual([2, 'strong']);
  });
});

test('after a refused commit → the near copy is not taken for changed (memory)', async () => {
  const { near, lagging } = openSites();
  await near.invoke(put('k', 1));
  await lagging.invoke(commit([{ key: 'k', version: 0 }], [{ key: 'other', value: 1 }]));
  const writing = lagging.invoke(commit([{ key: 'other', version: 0 }], []));
  const views: unknown[] = [];
  for await (const { value } of writing) views.push(value.committed);
  expect(views).toEqual([true, true]);
});

test('a lagging copy without sessions → the next run reads at the strongest level', async () => {
  const { near, lagging } = openSites();
  await near.invoke(put('k', 1));
  const withoutSessions = { ...lagging, session: openNoSession };
  const levels = async (tx: Transaction) => {
    const value = await tx.get('k');
    tx.put('k', tx.attempt);
    return [value, tx.attempt];
  };
  expect(await transaction(withoutSessions, levels)).toEqual([1, 2]);
});

function openNoSession(): never {
  throw new CorrectableError('UNSUPPORTED', 'no sessions');
}

describe('what the function throws', () => {
  class NotEnough extends Error {}

  const take = (client: MemoryClient, options?: TransactionOptions<readonly ['weak', 'strong']>) =>
    transaction(
      client,
      async (tx) => {
        const left = (await tx.get<number>('left')) ?? 0;
        if (left < 1) throw new NotEnough();
        tx.put('left', left - 1);
        return left - 1;
      },
      options,
    );

  test('its reads still hold → FINAL_FAILED with the cause, and nothing is written', async () => {
    const { near } = openSites();
    const error = await take(near).then(String, (caught: unknown) => caught);
    expect(error).toMatchObject({ code: 'FINAL_FAILED', retryable: false });
    expect((error as CorrectableError).cause).toBeInstanceOf(NotEnough);
    expect(await read(near, 'left')).toEqual([undefined]);
  });

  test('in a run after a view that did not come true → the cause is still what was thrown', async () => {
    const { client } = openCounted(({ name }, sink) => {
      if (name !== 'commit') return false;
      queueMicrotask(() => sink.view({ committed: true, changed: [] }, 'weak'));
      queueMicrotask(() => sink.view({ committed: false, changed: ['left'] }, 'strong'));
      return true;
    });
    const taking = transaction(client, (tx) => {
      if (tx.attempt > 1) throw new NotEnough();
      tx.put('left', 0);
      return 0;
    });
    const error = await taking.then(String, (caught: unknown) => caught);
    expect(error).toMatchObject({ code: 'FINAL_FAILED', retryable: false });
    const { cause, lastView } = error as CorrectableError;
    expect(cause).toBeInstanceOf(NotEnough);
    expect(lastView).toMatchObject({ value: 0, level: 'weak' });
  });

  test('its reads were stale → not reported; it runs again', async () => {
    const { near, lagging } = openSites();
    await near.invoke(put('left', 1));
    expect(await take(lagging)).toBe(0);
  });

  test('an error of the package → reported as it is', async () => {
    const { near } = openSites();
    const refused = transaction(near, () => {
      throw new CorrectableError('FORBIDDEN', 'not yours');
    });
    await expect(refused).rejects.toMatchObject({ code: 'FORBIDDEN' });
  });
});

describe('failures', () => {
  test('changed at each run → CONFLICT with the keys after maxAttempts, nothing written', async () => {
    const { near } = openSites();
    let runs = 0;
    const losing = transaction(
      near,
      async (tx) => {
        await tx.get('hot');
        await near.invoke(put('hot', ++runs));
        tx.put('mine', 1);
      },
      { maxAttempts: 3 },
    );
    await expect(losing).rejects.toMatchObject({ code: 'CONFLICT', key: 'hot' });
    expect([runs, await read(near, 'mine')]).toEqual([3, [undefined]]);
  });

  test('the outcome of a commit is UNKNOWN → UNKNOWN, and the function does not run again', async () => {
    const unknown = new CorrectableError('UNKNOWN', 'connection lost');
    const { client } = openCounted(({ name }, sink) => {
      if (name === 'commit') sink.fail(unknown);
      return name === 'commit';
    });
    let runs = 0;
    const writing = transaction(client, (tx) => tx.put('k', ++runs));
    await expect(writing).rejects.toMatchObject({ code: 'UNKNOWN', retryable: false });
    expect(runs).toBe(1);
  });

  test('a store refuses a commit with CONFLICT → it runs again', async () => {
    let refusals = 0;
    const { client } = openCounted(({ name }, sink) => {
      const isRefused = name === 'commit' && refusals++ === 0;
      if (isRefused) sink.fail(new CorrectableError('CONFLICT', 'certification'));
      return isRefused;
    });
    expect(await transaction(client, (tx) => (tx.put('k', tx.attempt), tx.attempt))).toBe(2);
  });

  test('a store finds no state to read and fails with CONFLICT → it runs again', async () => {
    let refusals = 0;
    const { client } = openCounted(({ name }, sink) => {
      const isRefused = name === 'readVersions' && refusals++ === 0;
      if (isRefused) sink.fail(new CorrectableError('CONFLICT', 'too many writes'));
      return isRefused;
    });
    const run = async (tx: { get(key: string): Promise<unknown>; attempt: number }) => [
      await tx.get('k'),
      tx.attempt,
    ];
    expect(await transaction(client, run)).toEqual([undefined, 2]);
  });

  test('a read fails → the transaction fails so, whatever the function makes of it', async () => {
    const { client, submitted } = openCounted(({ name }, sink) => {
      if (name === 'readVersions') sink.fail(new CorrectableError('UNAVAILABLE', 'away'));
      return name === 'readVersions';
    });
    const reading = transaction(client, async (tx) => {
      tx.put('k', (await tx.get('a').catch(() => 'default')) as string);
    });
    await expect(reading).rejects.toMatchObject({ code: 'UNAVAILABLE' });
    expect(submitted.map(({ name }) => name)).toEqual(['readVersions']);
  });

  test('canceled before the commit → ABORTED, no commit is sent, and tx.signal aborts', async () => {
    const { client, submitted } = openCounted();
    const controller = new AbortController();
    let signal: AbortSignal | undefined;
    const writing = transaction(
      client,
      async (tx) => {
        signal = tx.signal;
        controller.abort();
        tx.put('k', 1);
      },
      { signal: controller.signal },
    );
    await expect(writing).rejects.toMatchObject({ code: 'ABORTED' });
    expect([signal?.aborted, submitted]).toEqual([true, []]);
  });

  test('canceled while the commit is in flight → UNKNOWN', async () => {
    const controller = new AbortController();
    const { client } = openCounted(({ name }) => {
      if (name === 'commit') queueMicrotask(() => controller.abort());
      return name === 'commit';
    });
    const writing = transaction(client, (tx) => tx.put('k', 1), { signal: controller.signal });
    await expect(writing).rejects.toMatchObject({ code: 'UNKNOWN' });
  });

  test('canceled between two runs → ABORTED, since nothing was written', async () => {
    const controller = new AbortController();
    const { client } = openCounted(({ name }, sink) => {
      if (name !== 'commit') return false;
      sink.view({ committed: false, changed: ['k'] }, 'strong');
      setTimeout(() => controller.abort());
      return true;
    });
    const writing = transaction(client, (tx) => tx.put('k', 1), { signal: controller.signal });
    await expect(writing).rejects.toMatchObject({ code: 'ABORTED' });
  });

  test('a store without the two operations → UNSUPPORTED', async () => {
    const supports = { value: ({ name }: Operation) => name === 'get' };
    const plain = createClient(Object.create(memory(), { supports }) as ReturnType<typeof memory>);
    const writing = transaction(plain, (tx) => tx.put('k', 1));
    await expect(writing).rejects.toMatchObject({ code: 'UNSUPPORTED' });
  });

  test('a store that answers something else → PROTOCOL for a commit, not a made-up outcome', async () => {
    const tiers = createClient(tiered(['origin'], { origin: () => 1 }));
    const writing = transaction(tiers, (tx) => tx.put('k', 1));
    await expect(writing).rejects.toMatchObject({ code: 'PROTOCOL', retryable: false });
    const empty = createClient(tiered(['origin'], { origin: () => undefined }));
    const unanswered = transaction(empty, (tx) => tx.put('k', 1));
    await expect(unanswered).rejects.toMatchObject({ code: 'PROTOCOL', retryable: false });
    const reading = transaction(tiers, (tx) => tx.get('k'));
    await expect(reading).rejects.toMatchObject({ code: 'PROTOCOL' });
    const plain = createClient(tiered(['origin'], { origin: () => ['value'] }));
    await expect(transaction(plain, (tx) => tx.get('k'))).rejects.toMatchObject({
      code: 'PROTOCOL',
    });
  });
});

describe('a cache in front', () => {
  test('has views of the keys → reads go behind it, and a commit drops the views it changes', async () => {
    const store = createClient(cached(memory({ delaysMs: { weak: 0, strong: 0 }, lagMs: 0 })));
    await store.invoke(put('k', 1));
    await store.invoke(put('other', 1));
    await transaction(store, async (tx) => tx.put('k', ((await tx.get<number>('k')) ?? 0) + 1));
    const views: unknown[] = [];
    for await (const { value, level } of store.invoke(get('k'))) views.push([value, level]);
    expect(views).toEqual([
      [2, 'weak'],
      [2, 'strong'],
    ]);
    expect(await store.invokeWeak(get('other'))).toBe(1);
    await transaction(store, async (tx) => tx.put('k', ((await tx.get<number>('k')) ?? 0) + 1));
    expect(await store.invokeStrong(get('k'))).toBe(3);
  });
});

describe('options', () => {
  test('an idempotency key → INVALID_ARGUMENT that says what to do instead', () => {
    const { near } = openSites();
    const options = { idempotencyKey: 'payment-7' } as TransactionOptions<
      readonly ['weak', 'strong']
    >;
    expect(() => transaction(near, () => 1, options)).toThrow(
      /row of your own with the identifier/,
    );
  });

  test('a session of the caller → the transaction reads its writes, and it stays open', async () => {
    const { lagging } = openSites();
    const session = lagging.session();
    await lagging.invoke(put('k', 1), { session });
    expect(await transaction(lagging, (tx) => tx.get('k'), { session })).toBe(1);
    expect(await lagging.invoke(get('k'), { session })).toBe(1);
  });
});
