/**
 * The service behind the gateways that are stormed: each update adds one to the count of its mark,
 * blue or red.
 */
import { z } from 'zod';
import { defineContract } from '../../src/contract/index.ts';
import { blue, counter, defineService, red, table } from '../../src/server/index.ts';

const mark = z.string().min(1).max(200);

export const contract = defineContract('fuzz', {
  bump: { access: 'write', args: z.object({ mark }), result: z.boolean() },
  bumpRed: { access: 'write', args: z.object({ mark }), result: z.boolean() },
  count: { access: 'read', args: z.object({ mark }), result: z.int() },
});

export const service = defineService(contract, {
  tables: { marks: table({ n: counter() }) },
  shadowOperations: ({ marks }) => ({
    add: blue((value: { mark: string }) => [marks.row(value.mark).n.add(1)]),
    addRed: red((value: { mark: string }) => [marks.row(value.mark).n.add(1)]),
  }),
  generators: {
    bump: (value, { shadow }) => shadow.add(value, true),
    bumpRed: (value, { shadow }) => shadow.addRed(value, true),
    count: (value, { tables }) => tables.marks.row(value.mark).n,
  },
});
