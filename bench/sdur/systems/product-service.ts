/** Rows that red operations read and write, each in the partition that its key names. */
import * as z from 'zod';
import { defineContract } from '../../../src/contract/contract.ts';
import { defineService, type Service } from '../../../src/server/service/service.ts';
import { red } from '../../../src/server/service/shadow-operation.ts';
import { register, table } from '../../../src/server/service/tables.ts';

interface Update {
  readonly first: string;
  readonly second: string;
  readonly value: number;
}

interface UpdateOne {
  readonly row: string;
  readonly value: number;
}

const contract = defineContract('rows', {
  update: {
    access: 'write',
    partitionBy: 'first',
    args: z.object({ first: z.string(), second: z.string(), value: z.int() }),
    result: z.array(z.int()),
  },
  updateOne: {
    access: 'write',
    partitionBy: 'row',
    args: z.object({ row: z.string(), value: z.int() }),
    result: z.int(),
  },
  read: {
    access: 'read',
    args: z.object({ rows: z.array(z.string()) }),
    result: z.array(z.int()),
  },
});

export const rowService: Service = defineService(contract, {
  tables: { rows: table({ value: register<number>() }, { partition: 'key' }) },
  shadowOperations: ({ rows }) => ({
    write: red(({ first, second, value }: Update) => [
      rows.row(first).value.write(value),
      rows.row(second).value.write(value),
    ]),
    writeOne: red(({ row, value }: UpdateOne) => [rows.row(row).value.write(value)]),
  }),
  generators: {
    update: (args, { tables, shadow }) => {
      const values = [args.first, args.second].map((key) => tables.rows.row(key).value ?? 0);
      return shadow.write(args, values);
    },
    updateOne: (args, { tables, shadow }) =>
      shadow.writeOne(args, tables.rows.row(args.row).value ?? 0),
    read: ({ rows }, { tables }) => rows.map((row) => tables.rows.row(row).value ?? 0),
  },
}) as unknown as Service;
