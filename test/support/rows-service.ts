/** A service that writes and removes many rows by one operation. */
import { z } from 'zod';
import { defineContract } from 'correctables/contract';
import { blue, counter, defineService, table } from 'correctables/server';

const range = z.object({ from: z.int(), count: z.int() });
type Range = z.infer<typeof range>;

export const rowsContract = defineContract('rows', {
  addRows: { access: 'write', args: range, result: z.null() },
  dropRows: { access: 'write', args: range, result: z.null() },
  get: { access: 'read', args: z.object({ row: z.int() }), result: z.int() },
});

const listKeys = ({ from, count }: Range): string[] =>
  Array.from({ length: count }, (_, index) => `account-${from + index}`);

export const service = defineService(rowsContract, {
  tables: { accounts: table({ balance: counter() }, { removable: true }) },
  shadowOperations: ({ accounts }) => ({
    add: blue((rows: Range) => listKeys(rows).map((key) => accounts.row(key).balance.add(1))),
    remove: blue((rows: Range) => listKeys(rows).map((key) => accounts.remove(key))),
  }),
  generators: {
    addRows: (rows, { shadow }) => shadow.add(rows, null),
    dropRows: (rows, { shadow }) => shadow.remove(rows, null),
    get: ({ row }, { tables }) => tables.accounts.row(`account-${row}`).balance,
  },
});
