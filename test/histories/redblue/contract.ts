/** What callers do to the backend: each kind of data, alone and together, each write with a name of its own. */
import { z } from 'zod';
import { defineContract, queueOperations } from 'correctables/contract';

const name = z.string().min(1);
const entry = z.object({ row: name, id: name });
const payment = z.object({ account: name, id: name, amount: z.number().int().positive() });
const holder = z.object({ key: name, by: name });
const person = z.object({ rota: name, who: name });

/** All of one round, in one snapshot. */
const look = z.object({
  /** The lines of all rows, in the order in which each row has them. */
  lines: z.array(z.array(name)),
  accounts: z.array(z.object({ balance: z.number(), ids: z.array(name) })),
  /** Who is on duty. */
  onDuty: z.array(name),
});

export type Look = z.infer<typeof look>;

export const scene = defineContract('histories', {
  ...queueOperations,
  /** Blue: adds a line. */
  note: { access: 'write', args: entry, result: z.null() },
  /** Blue. */
  deposit: { access: 'write', args: payment, result: z.null() },
  /** Red: `false` where the balance does not allow it. */
  withdraw: { access: 'write', args: payment, result: z.boolean() },
  /** Red. */
  put: { access: 'write', args: z.object({ key: name, value: name }), result: z.null() },
  get: { access: 'read', args: z.object({ key: name }), result: z.nullable(name) },
  /** Red: takes a hold that is free. */
  claim: { access: 'write', args: holder, result: z.boolean() },
  /** Red: gives back what one holds. */
  release: { access: 'write', args: holder, result: z.boolean() },
  /** Red. */
  join: { access: 'write', args: person, result: z.null() },
  /** Red: `false` for who would be the last on duty. */
  leave: { access: 'write', args: person, result: z.boolean() },
  look: {
    access: 'read',
    args: z.object({ rows: z.array(name), accounts: z.array(name), rota: name }),
    result: look,
  },
});
