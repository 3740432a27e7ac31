/**
 * Views are filed under the hash of their operation: none is shown once its contract has changed.
 */
// @rule CACHE-11
import { expect, onTestFinished, test } from 'vitest';
import { z } from 'zod';
import { cached, mapStore, type CacheStore } from '../../../../src/bindings/cache/index.ts';
import { tiered } from '../../../../src/bindings/tiered/index.ts';
import { redblue } from '../../../../src/bindings/redblue/index.ts';
import { remote } from '../../../../src/bindings/remote/index.ts';
import {
  createHandler,
  defineContract,
  type Contract,
  type OperationSpec,
} from '../../../../src/contract/index.ts';
import type { Binding } from '../../../../src/correctable/binding.ts';
import { isCorrectableError } from '../../../../src/correctable/errors.ts';
import { createClient } from '../../../../src/correctable/client/client.ts';
import { get } from '../../../../src/operations/index.ts';

const spec = {
  access: 'read',
  args: z.object({ slot: z.string() }),
  result: z.object({ left: z.int() }),
  key: ({ slot }: { slot: string }) => slot,
} satisfies OperationSpec;
const before = defineContract('shop', { slot: spec, place: spec });
type Shop = Contract<{ slot: typeof spec; place: typeof spec }>;

function open(store: CacheStore, contract: Shop) {
  const tier = createHandler(contract, { slot: () => ({ left: 1 }), place: () => ({ left: 2 }) });
  const client = createClient(cached(tiered(['site'], { site: tier }), { store }));
  onTestFinished(() => client.close());
  const peek = async (operation: ReturnType<Shop['slot']>): Promise<unknown> =>
    client.invokeWeak(operation).catch((error: unknown) => isCorrectableError(error) && error.code);
  return { client, peek };
}

const changed = {
  'the result has another field': {
    ...spec,
    result: z.object({ left: z.int(), tables: z.array(z.string()) }),
  },
  'there is another error': { ...spec, errors: { soldOut: z.object({}) } },
  'another operation has the name now': {
    ...spec,
    args: z.object({ slot: z.string(), at: z.string().optional() }),
  },
};

test.each(Object.entries(changed))(
  '%s → a miss, and the view leaves the store',
  async (_change, slot) => {
    const store = mapStore();
    const old = open(store, before);
    await Promise.all([
      old.client.invoke(before.slot({ slot: 'a' })),
      old.client.invoke(before.place({ slot: 'b' })),
    ]);
    await old.client.close();
    const next = defineContract('shop', { slot: slot as never, place: spec }) as unknown as Shop;
    const page = open(store, next);
    expect(await page.peek(next.slot({ slot: 'a' }))).toBe('UNAVAILABLE');
    expect(await page.peek(next.place({ slot: 'b' }))).toEqual({ left: 2 });
    await page.client.close();
    const names = Array.from(await store.load(), ([id]) => (JSON.parse(id) as string[])[1]);
    expect(names).toEqual(['place', undefined]);
  },
);

test('no contract → filed under the name alone', async () => {
  const store = mapStore();
  const page = createClient(cached(tiered(['site'], { site: () => 1 }), { store }));
  await page.invoke(get('x'));
  await page.close();
  expect(Array.from(await store.load(), ([id]) => id)).toContain(
    JSON.stringify(['', 'get', '"x"', '{"key":"x"}']),
  );
});

test('the hash is that of the operation alone: other operations and the name of the contract do not count', () => {
  const url = 'ws://127.0.0.1:1/x';
  const bindings: readonly Binding[] = [before, defineContract('store', { slot: spec })].flatMap(
    (contract) => [redblue(contract, { url }), remote({ url, levels: ['site'], contract })],
  );
  onTestFinished(async () => void (await Promise.all(bindings.map((binding) => binding.close()))));
  const hashes = new Set(bindings.map((binding) => binding.operationHash?.('slot')));
  expect([...hashes]).toEqual([expect.any(String)]);
  expect(bindings[0]?.operationHash?.('unheard-of')).toBeUndefined();
});
