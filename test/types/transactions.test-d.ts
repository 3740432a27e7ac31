/**
 * What the types of transactions promise: the value of the function, at the levels of the client.
 */
import { expectTypeOf, test } from 'vitest';
import type { AnyClient, Client, Correctable, Levels } from '../../src/index.ts';
import { transaction, type Transaction } from '../../src/transactions/index.ts';

type Three = readonly ['weak', 'causal', 'strong'];
declare const client: Client<Three>;

test('transaction → a Correctable of what the function returns', () => {
  const left = transaction(client, async (tx) => {
    expectTypeOf(tx).toEqualTypeOf<Transaction>();
    expectTypeOf(await tx.get<number>('k')).toEqualTypeOf<number | undefined>();
    expectTypeOf(await tx.getMany<number>(['a', 'b'])).toEqualTypeOf<(number | undefined)[]>();
    tx.put('k', 1);
    return 7;
  });
  expectTypeOf(left).toEqualTypeOf<Correctable<number, Three>>();
  expectTypeOf(left.map(String)).toExtend<Correctable<string, Three>>();
});

test('portable code → takes any client', () => {
  const move = (shop: AnyClient) => transaction(shop, () => 1);
  expectTypeOf(move).returns.toEqualTypeOf<Correctable<number, Levels>>();
  expectTypeOf(client).toExtend<Parameters<typeof move>[0]>();
});

test('level → the strongest of the client, or none', () => {
  expectTypeOf(() => transaction(client, () => 1, { level: 'strong' })).toBeFunction();
  // @ts-expect-error: a weaker level certifies nothing
  expectTypeOf(() => transaction(client, () => 1, { level: 'causal' })).toBeFunction();
  // @ts-expect-error: each run commits other arguments
  expectTypeOf(() => transaction(client, () => 1, { idempotencyKey: 'k' })).toBeFunction();
});
