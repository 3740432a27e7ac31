/** Transactions as parts of other Correctables: their errors, and what a wrong input leads to. */
// @rule TX-12
import { expect, test } from 'vitest';
import { memory, memoryStore } from '../../../src/bindings/memory/index.ts';
import { createClient, type Client } from '../../../src/correctable/client/client.ts';
import { all } from '../../../src/correctable/client/all.ts';
import { correctable } from '../../../src/correctable/client/create.ts';
import type { Correctable } from '../../../src/correctable/correctable.ts';
import { CorrectableError } from '../../../src/correctable/errors.ts';
import { get, put } from '../../../src/operations/index.ts';
import { transaction } from '../../../src/transactions/index.ts';

type MemoryLevels = readonly ['weak', 'strong'];

function openClient(): Client<MemoryLevels> {
  return createClient(memory({ delaysMs: { weak: 0, strong: 0 }, lagMs: 0 }));
}

interface OpenTransaction {
  readonly adding: Correctable<number, MemoryLevels>;
  /** Lets the function return. */
  readonly proceed: () => void;
}

/** A transaction that adds 1 to `count`, once it may proceed. */
function beginAdding(client: Client<MemoryLevels>): OpenTransaction {
  let proceed!: () => void;
  const mayProceed = new Promise<void>((resolve) => (proceed = resolve));
  const adding = transaction(client, async (tx) => {
    const count = ((await tx.get<number>('count')) ?? 0) + 1;
    await mayProceed;
    tx.put('count', count);
    return count;
  });
  return { adding, proceed };
}

test('all fails while a transaction of it runs → no error that suggests a retry', async () => {
  const client = openClient();
  const { adding, proceed } = beginAdding(client);
  const failed = correctable<number, MemoryLevels>(['weak', 'strong'], (sink) => {
    sink.fail(new CorrectableError('UNAVAILABLE', 'away'));
  });
  await expect(all([adding, failed])).rejects.toMatchObject({
    code: 'UNAVAILABLE',
    retryable: false,
    message: expect.stringContaining('may take effect all the same'),
  });
  proceed();
  expect(await adding).toBe(1);
});

test('a map of a transaction is canceled before the commit → ABORTED, as the transaction', async () => {
  const { adding } = beginAdding(openClient());
  const mapped = adding.map(String);
  mapped.cancel();
  await expect(mapped).rejects.toMatchObject({ code: 'ABORTED' });
  await expect(adding).rejects.toMatchObject({ code: 'ABORTED' });
});

test('a step of chain begins one on a preliminary view → UNKNOWN, as for another write', async () => {
  const client = openClient();
  const chained = client.invoke(get('other')).chain(() => {
    const { adding, proceed } = beginAdding(client);
    proceed();
    return adding;
  });
  await expect(chained).rejects.toMatchObject({ code: 'UNKNOWN', retryable: false });
});

test('its input turns out wrong before its commit → it is not committed', async () => {
  const store = memoryStore();
  const delaysMs = { weak: 0, strong: 0 };
  const near = createClient(memory({ store, delaysMs, lagMs: 0 }));
  const lagging = createClient(memory({ store, delaysMs, lagMs: 1e9 }));
  await near.invoke(put('input', 'new'));

  const begun: OpenTransaction[] = [];
  const step = () => {
    const next = beginAdding(near);
    if (begun.push(next) > 1) next.proceed();
    return next.adding;
  };
  const added = await lagging.invoke(get('input')).chain(step, () => {});
  begun[0]!.proceed();
  await expect(begun[0]!.adding).rejects.toMatchObject({ code: 'ABORTED' });
  expect([added, begun.length, await near.invokeStrong(get('count'))]).toEqual([1, 2, 1]);
  await Promise.all([near.close(), lagging.close()]);
});
