/**
 * A service with one blue and one red write. The names of its operations are used for nothing else.
 */
import * as z from 'zod';
import { defineContract } from '../../../src/contract/index.ts';
import {
  blue,
  counter,
  defineService,
  red,
  register,
  table,
  type Service,
} from '../../../src/server/index.ts';

const account = z.string().min(1);

export const contract = defineContract('traced', {
  renameAccount: {
    access: 'write',
    args: z.object({ account, name: z.string() }),
    result: z.null(),
  },
  withdrawCents: { access: 'write', args: z.object({ account, cents: z.int() }), result: z.null() },
});

export const service: Service = defineService(contract, {
  tables: { accounts: table({ name: register<string>(), balance: counter() }) },
  shadowOperations: ({ accounts }) => ({
    rename: blue((args: { account: string; name: string }) => [
      accounts.row(args.account).name.write(args.name),
    ]),
    withdraw: red((args: { account: string; cents: number }) => [
      accounts.row(args.account).balance.add(-args.cents),
    ]),
  }),
  generators: {
    renameAccount: (args, { shadow }) => shadow.rename(args, null),
    withdrawCents: (args, { shadow }) => shadow.withdraw(args, null),
  },
});
