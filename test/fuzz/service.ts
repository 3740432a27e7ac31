/** The service behind the gateways that are stormed: each update adds one to the count of its mark, blue or red. */
import { z } from 'zod';
import { defineContract } from '../../src/contract/index.ts';
import { blue, counter, defineService, red, table } from '../../src/server/index.ts';

const mark = z.string().min(1).max(200);

export const contract = defineContract('fuzz', {
  bump: { effect: 'update', args: z.object({ mark }), result: z.boolean() },
  bumpRed: { effect: 'update', args: z.object({ mark }), result: z.boolean() },
  count: { effect: 'read', args: z.object({ mark }), result: z.int() },
});

export const service = defineService(contract, {
  tables: { marks: table({ n: counter() }) },
  shadowOperations: ({ marks }) => ({
    add: blue((given: { mark: string }) => [marks.row(given.mark).n.add(1)]),
    addRed: red((given: { mark: string }) => [marks.row(given.mark).n.add(1)]),
  }),
  generators: {
    bump: (given, { shadow }) => shadow.add(given, true),
    bumpRed: (given, { shadow }) => shadow.addRed(given, true),
    count: (given, { tables }) => tables.marks.row(given.mark).n,
  },
});
