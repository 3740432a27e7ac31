/**
 * The portable vocabulary as contract operations. Names, arguments and results are those of the builders in
 * `correctables/operations`, so that code written with them runs on a service which includes these.
 */
import * as z from 'zod/v4-mini';
import { operation, type OperationSpec } from './contract.ts';

const name: z.ZodMiniString = z.string().check(z.minLength(1));
const queueArgs: z.ZodMiniObject<{ queue: z.ZodMiniString }> = z.object({ queue: name });
const keyArgs: z.ZodMiniObject<{ key: z.ZodMiniString }> = z.object({ key: name });
const takenItem: z.ZodMiniNullable<z.ZodMiniObject<{ item: z.ZodMiniUnknown }>> = z.nullable(
  z.object({ item: z.unknown() }),
);

type QueueArgs = typeof queueArgs;
type KeyArgs = typeof keyArgs;

/**
 * `enqueue`, `dequeue` and `peek`. The result of a `dequeue` is `{ item }`, or `null` from an empty queue; how many
 * items it left is view metadata, `remaining`. Which item a preliminary names is a guess, which the final may correct.
 *
 * @example
 * const tickets = defineContract('tickets', { ...queueOperations });
 */
export const queueOperations: {
  readonly enqueue: OperationSpec<z.ZodMiniObject<{ queue: z.ZodMiniString; item: z.ZodMiniUnknown }>, z.ZodMiniVoid>;
  readonly dequeue: OperationSpec<QueueArgs, typeof takenItem>;
  readonly peek: OperationSpec<QueueArgs, typeof takenItem>;
} = {
  enqueue: operation({
    effect: 'update',
    args: z.object({ queue: name, item: z.unknown() }),
    result: z.void(),
    key: ({ queue }) => queue,
  }),
  dequeue: operation({ effect: 'update', args: queueArgs, result: takenItem, key: ({ queue }) => queue }),
  peek: operation({ effect: 'read', args: queueArgs, result: takenItem, key: ({ queue }) => queue }),
};

/**
 * `get`, `put` and `getMany`.
 *
 * @example
 * const settings = defineContract('settings', { ...keyValueOperations });
 */
export const keyValueOperations: {
  readonly get: OperationSpec<KeyArgs, z.ZodMiniUnknown>;
  readonly put: OperationSpec<z.ZodMiniObject<{ key: z.ZodMiniString; value: z.ZodMiniUnknown }>, z.ZodMiniVoid>;
  readonly getMany: OperationSpec<
    z.ZodMiniObject<{ keys: z.ZodMiniArray<z.ZodMiniString> }>,
    z.ZodMiniArray<z.ZodMiniUnknown>
  >;
} = {
  get: operation({ effect: 'read', args: keyArgs, result: z.unknown(), key: ({ key }) => key }),
  put: operation({
    effect: 'update',
    args: z.object({ key: name, value: z.unknown() }),
    result: z.void(),
    key: ({ key }) => key,
  }),
  getMany: operation({
    effect: 'read',
    args: z.object({ keys: z.array(name) }),
    result: z.array(z.unknown()),
  }),
};
