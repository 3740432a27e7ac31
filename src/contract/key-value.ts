/**
 * The contract of `keyValueService`. Its operations have the names and arguments of the builders in
 * `correctables/operations`, so the same program runs on this service and on other stores.
 */
import * as z from 'zod/v4-mini';
import { MAX_TRANSACTION_KEYS } from '../operations/index.ts';
import { defineContract, operation } from './contract.ts';
import { keyValueOperations } from './portable-operations.ts';

const key = z.string().check(z.minLength(1));
const version = z.union([z.string(), z.number()]);
/** Absent if the key has no value, so `undefined` as a value removes it. */
const value = z.optional(z.unknown());

/** Arrays are limited here too, because the contract's own builders check nothing. */
const maxKeys = z.maxLength(MAX_TRANSACTION_KEYS);

/**
 * The contract of `keyValueService` of `correctables/server`: values by key, with the transactions
 * of `readVersions` and `commit`. Reads have the levels `causal` and `strong`; `put` and `commit`
 * have `tentative` and `strong`. Use the builders of `correctables/operations` or those of the
 * contract. A value is any that the wire can carry; `undefined` removes it.
 *
 * @example
 * const store = createClient(redblue(keyValue, { url: 'ws://127.0.0.1:7420/ireland' }));
 * await store.invoke(put('user:7:name', 'Ada'));
 */
export const keyValue = defineContract('key-value', {
  get: keyValueOperations.get,
  getMany: keyValueOperations.getMany,
  put: operation({
    access: 'write',
    color: 'red',
    args: z.object({ key, value }),
    result: z.void(),
    partitionBy: 'key',
    key: (args) => args.key,
  }),
  readVersions: operation({
    access: 'read',
    args: z.object({
      keys: z.array(key).check(maxKeys),
      known: z.optional(z.array(z.nullable(version)).check(maxKeys)),
    }),
    partitionBy: 'keys.0',
    result: z.array(z.object({ version, value })),
  }),
  commit: operation({
    access: 'write',
    color: 'red',
    args: z.object({
      reads: z.array(z.object({ key, version })).check(maxKeys),
      writes: z.array(z.object({ key, value })).check(maxKeys),
    }),
    partitionBy: 'writes.0.key',
    result: z.object({ committed: z.boolean(), changed: z.array(z.string()) }),
  }),
});
