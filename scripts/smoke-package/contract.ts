/**
 * What an application does with a contract, whichever zod 4 it has: schemas are compiled, hashed,
 * and parse at both ends of a connection. Prints the same with each of them; so must schemas have
 * the same hash, or a page with another zod than its server's would be turned away.
 */
import { createClient, isCorrectableError } from 'correctables';
import { defineContract, isDomainError } from 'correctables/contract';
import { redblue } from 'correctables/bindings/redblue';
import { counter, defineService, red, serve, table } from 'correctables/server';
import * as z from 'zod';

const amount = z.int().positive().max(1_000);
const bank = defineContract('bank', {
  deposit: {
    access: 'write',
    args: z.object({ account: z.string().min(1).max(64), amount: amount.default(5) }),
    result: z.null(),
  },
  withdraw: {
    access: 'write',
    args: z.object({ account: z.string(), amount }),
    result: z.object({ left: z.int().nullable() }),
    errors: { notEnough: z.object({ balance: z.int() }) },
    // Not taken apart: of `never`, which is what a compiler infers that cannot, anything could be
    // taken.
    key: (args) => args.account,
    equals: (a, b) => a.left === b.left,
  },
  look: {
    access: 'read',
    args: z.object({ account: z.string().transform((name) => name.trim()) }),
    result: z.union([
      z.literal('none'),
      z.object({ balance: z.int(), tags: z.array(z.enum(['new', 'old'])).optional() }),
    ]),
  },
});
const service = defineService(bank, {
  tables: { accounts: table({ balance: counter() }) },
  shadowOperations: ({ accounts }) => ({
    add: red((a: { account: string; amount: number }) => [
      accounts.row(a.account).balance.add(a.amount),
    ]),
  }),
  generators: {
    deposit: (args, { shadow }) => shadow.add(args, null),
    withdraw: ({ account, amount: taken }, { tables, shadow, errors }) => {
      const { balance } = tables.accounts.row(account);
      if (balance < taken) throw errors.notEnough({ balance });
      return shadow.add({ account, amount: -taken }, { left: balance - taken });
    },
    look: ({ account }, { tables }) =>
      tables.accounts.has(account) ? { balance: tables.accounts.row(account).balance } : 'none',
  },
});

const server = await serve({ service, sites: ['ireland'] });
const teller = createClient(redblue(bank, { url: server.siteUrl('ireland') }));
await teller.invoke(bank.deposit({ account: 'ann' }));
console.log('balance', await teller.invokeStrong(bank.look({ account: ' ann ' })));
console.log('nobody', await teller.invokeStrong(bank.look({ account: 'bob' })));
console.log('left', await teller.invoke(bank.withdraw({ account: 'ann', amount: 2 })));
await teller.invoke(bank.withdraw({ account: 'ann', amount: 20 })).catch((error: unknown) => {
  if (!isDomainError(error, bank.operations.withdraw, 'notEnough')) throw error;
  console.log('only', error.domain.data.balance);
});
await teller.invoke(bank.deposit({ account: 'ann', amount: 0.5 })).catch((error: unknown) => {
  if (!isCorrectableError(error, 'INVALID_ARGUMENT')) throw error;
  console.log(error.code, error.field);
});
console.log('hash', bank.hash);
await teller.close();
await server.close();
