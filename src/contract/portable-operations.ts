/**
 * The portable operations for contracts, with the names and arguments of the builders in
 * `correctables/operations`.
 */
import * as z from 'zod/v4-mini';
import { operation, type OperationSpec } from './contract.ts';

const nameSchema: z.ZodMiniString = z.string().check(z.minLength(1));
const queueArgsSchema: z.ZodMiniObject<{ queue: z.ZodMiniString }> = z.object({
  queue: nameSchema,
});
const keyArgsSchema: z.ZodMiniObject<{ key: z.ZodMiniString }> = z.object({
  key: nameSchema,
});
const dequeuedItem: z.ZodMiniNullable<z.ZodMiniObject<{ item: z.ZodMiniUnknown }>> = z.nullable(
  z.object({ item: z.unknown() }),
);

type QueueArgs = typeof queueArgsSchema;
type KeyArgs = typeof keyArgsSchema;

/**
 * Defines `enqueue`, `dequeue` and `peek`. The result of a `dequeue` is `{ item }`, or `null` from
 * an empty queue. Its views have `meta.remaining`, the number of items left. A preliminary view
 * guesses the item; the final may correct it.
 *
 * @example
 * const tickets = defineContract('tickets', { ...queueOperations });
 */
export const queueOperations: {
  readonly enqueue: OperationSpec<
    z.ZodMiniObject<{ queue: z.ZodMiniString; item: z.ZodMiniUnknown }>,
    z.ZodMiniVoid
  >;
  readonly dequeue: OperationSpec<QueueArgs, typeof dequeuedItem>;
  readonly peek: OperationSpec<QueueArgs, typeof dequeuedItem>;
} = {
  enqueue: operation({
    access: 'write',
    args: z.object({ queue: nameSchema, item: z.unknown() }),
    result: z.void(),
    key: ({ queue }) => queue,
    partitionBy: 'queue',
  }),
  dequeue: operation({
    access: 'write',
    args: queueArgsSchema,
    result: dequeuedItem,
    key: ({ queue }) => queue,
    partitionBy: 'queue',
  }),
  peek: operation({
    access: 'read',
    args: queueArgsSchema,
    result: dequeuedItem,
    key: ({ queue }) => queue,
    partitionBy: 'queue',
  }),
};

/**
 * Defines `get`, `put` and `getMany`.
 *
 * @example
 * const settings = defineContract('settings', { ...keyValueOperations });
 */
export const keyValueOperations: {
  readonly get: OperationSpec<KeyArgs, z.ZodMiniUnknown>;
  readonly put: OperationSpec<
    z.ZodMiniObject<{ key: z.ZodMiniString; value: z.ZodMiniUnknown }>,
    z.ZodMiniVoid
  >;
  readonly getMany: OperationSpec<
    z.ZodMiniObject<{ keys: z.ZodMiniArray<z.ZodMiniString> }>,
    z.ZodMiniArray<z.ZodMiniUnknown>
  >;
} = {
  get: operation({
    access: 'read',
    args: keyArgsSchema,
    result: z.unknown(),
    key: ({ key }) => key,
    partitionBy: 'key',
  }),
  put: operation({
    access: 'write',
    args: z.object({ key: nameSchema, value: z.unknown() }),
    result: z.void(),
    key: ({ key }) => key,
    partitionBy: 'key',
  }),
  getMany: operation({
    access: 'read',
    args: z.object({ keys: z.array(nameSchema) }),
    result: z.array(z.unknown()),
    partitionBy: 'keys.0',
  }),
};
