/** What the transactions of one client share, and what they must not share. */
import { expect, test } from 'vitest';
import { memory } from '../../../src/bindings/memory/index.ts';
import type { Binding } from '../../../src/correctable/binding.ts';
import { createClient } from '../../../src/correctable/client/client.ts';
import { get, put } from '../../../src/operations/index.ts';
import { transaction } from '../../../src/transactions/index.ts';

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
