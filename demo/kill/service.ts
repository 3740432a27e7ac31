/** The ledger at the sites. */
import { blue, counter, defineService, red, table, type Service } from 'correctables/server';
import { ledger } from './contract.ts';

interface Entry {
  readonly operation: string;
}

export const service: Service = defineService(ledger, {
  tables: { entries: table({ times: counter() }) },
  shadowOperations: ({ entries }) => ({
    note: blue(({ operation }: Entry) => [entries.row(operation).times.add(1)]),
    book: red(({ operation }: Entry) => [entries.row(operation).times.add(1)]),
  }),
  generators: {
    note: (args, { shadow }) => shadow.note(args, null),
    book: (args, { shadow }) => shadow.book(args, null),
    times: ({ operations }, { tables }) =>
      operations.map((operation) => tables.entries.row(operation).times),
  },
});
