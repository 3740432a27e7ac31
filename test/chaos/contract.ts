/**
 * What users do: a bank, a ticket shop, and registers. Each update has a name of its own that can
 * be found again.
 */
import { z } from 'zod';
import { defineContract, queueOperations } from 'correctables/contract';

const name = z.string().min(1);
const payment = z.object({ account: name, id: name, amount: z.number().int().positive() });
const sale = z.object({ hall: name, id: name });
const assignment = z.object({ key: name, value: name });
const value = z.nullable(name);

/** All that one round writes into, except its queues, in one snapshot. */
const overview = z.object({
  /** `ids` are the names of the payments in `balance`. */
  accounts: z.array(z.object({ balance: z.number(), ids: z.array(name) })),
  /** `left` seats can still be sold; `sold` are the names of the sales. */
  halls: z.array(z.object({ left: z.number(), sold: z.array(name) })),
  /** The blue registers. */
  profiles: z.array(value),
  /** The red registers. */
  values: z.array(value),
});

export type Overview = z.infer<typeof overview>;

export const chaos = defineContract('chaos', {
  ...queueOperations,
  /** Blue. */
  deposit: { access: 'write', partitionBy: 'account', args: payment, result: z.null() },
  /** Red: `false` if the balance is too small. */
  withdraw: { access: 'write', partitionBy: 'account', args: payment, result: z.boolean() },
  /** Red: puts seats on sale. */
  open: {
    access: 'write',
    partitionBy: 'hall',
    args: z.object({ hall: name, seats: z.number().int().positive() }),
    result: z.null(),
  },
  /** Blue while the site has rights: `false` if the hall is sold out. */
  sell: { access: 'write', partitionBy: 'hall', args: sale, result: z.boolean() },
  /** Red. */
  put: { access: 'write', partitionBy: 'key', args: assignment, result: z.null() },
  /** Red: returns the value before. */
  swap: { access: 'write', partitionBy: 'key', args: assignment, result: value },
  get: { access: 'read', partitionBy: 'key', args: z.object({ key: name }), result: value },
  /** Blue. */
  write: { access: 'write', partitionBy: 'key', args: assignment, result: z.null() },
  read: { access: 'read', partitionBy: 'key', args: z.object({ key: name }), result: value },
  look: {
    access: 'read',
    args: z.object({
      accounts: z.array(name),
      halls: z.array(name),
      profiles: z.array(name),
      values: z.array(name),
    }),
    result: overview,
  },
});
