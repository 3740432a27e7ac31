/**
 * The portable vocabulary as contract operations. Names, arguments and results are those of the builders in
 * `correctables/operations`, so that code written with them runs on a service which includes these.
 */
import { z } from 'zod';
import { operation } from './contract.ts';
import type { OperationSpec } from './contract.ts';

const queueArgs: z.ZodObject<{ queue: z.ZodString }> = z.object({ queue: z.string().min(1) });
const keyArgs: z.ZodObject<{ key: z.ZodString }> = z.object({ key: z.string().min(1) });
const takenItem: z.ZodNullable<z.ZodObject<{ item: z.ZodUnknown }>> = z.object({ item: z.unknown() }).nullable();

type QueueArgs = typeof queueArgs;
type KeyArgs = typeof keyArgs;

/**
 * `enqueue`, `dequeue` and `peek`. The result of a `dequeue` is `{ item }`, or `null` from an empty queue; how many
 * items it left is view metadata, `remaining`. Two results of it mean the same when both or neither are `null`: which
 * item a preliminary names is a guess.
 *
 * @example
 * const tickets = defineContract('tickets', { ...queueOperations });
 */
export const queueOperations: {
  readonly enqueue: OperationSpec<z.ZodObject<{ queue: z.ZodString; item: z.ZodUnknown }>, z.ZodVoid>;
  readonly dequeue: OperationSpec<QueueArgs, typeof takenItem>;
  readonly peek: OperationSpec<QueueArgs, typeof takenItem>;
} = {
  enqueue: operation({
    effect: 'update',
    args: z.object({ queue: z.string().min(1), item: z.unknown() }),
    result: z.void(),
    key: ({ queue }) => queue,
  }),
  dequeue: operation({
    effect: 'update',
    args: queueArgs,
    result: takenItem,
    key: ({ queue }) => queue,
    equals: (a, b) => (a === null) === (b === null),
  }),
  peek: operation({ effect: 'read', args: queueArgs, result: takenItem, key: ({ queue }) => queue }),
};

/**
 * `get`, `put` and `getMany`.
 *
 * @example
 * const settings = defineContract('settings', { ...keyValueOperations });
 */
export const keyValueOperations: {
  readonly get: OperationSpec<KeyArgs, z.ZodUnknown>;
  readonly put: OperationSpec<z.ZodObject<{ key: z.ZodString; value: z.ZodUnknown }>, z.ZodVoid>;
  readonly getMany: OperationSpec<z.ZodObject<{ keys: z.ZodArray<z.ZodString> }>, z.ZodArray<z.ZodUnknown>>;
} = {
  get: operation({ effect: 'read', args: keyArgs, result: z.unknown(), key: ({ key }) => key }),
  put: operation({
    effect: 'update',
    args: z.object({ key: z.string().min(1), value: z.unknown() }),
    result: z.void(),
    key: ({ key }) => key,
  }),
  getMany: operation({
    effect: 'read',
    args: z.object({ keys: z.array(z.string().min(1)) }),
    result: z.array(z.unknown()),
  }),
};
