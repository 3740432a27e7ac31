/** A service that keeps values by key, with blue writes, in its data folder. */
import { z } from 'zod';
import { defineContract } from 'correctables/contract';
import { blue, defineService, register, table } from 'correctables/server';

export const durableContract = defineContract('kept', {
  put: {
    access: 'write',
    args: z.object({ key: z.string(), value: z.string() }),
    result: z.null(),
  },
  get: { access: 'read', args: z.object({ key: z.string() }), result: z.string().nullable() },
  count: { access: 'read', args: z.object({}), result: z.int() },
});

export const service = defineService(durableContract, {
  tables: { values: table({ value: register<string>() }) },
  shadowOperations: ({ values }) => ({
    write: blue((a: { readonly key: string; readonly value: string }) => [
      values.row(a.key).value.write(a.value),
    ]),
  }),
  generators: {
    put: (args, { shadow }) => shadow.write(args, null),
    get: ({ key }, { tables }) => tables.values.row(key).value ?? null,
    count: (_args, { tables }) => [...tables.values.keys()].length,
  },
});
