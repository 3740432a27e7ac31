import { defineContract } from 'correctables/contract';
import * as z from 'zod/mini';

/** Where a view comes from, weakest first. */
export const LEVELS = ['replica', 'primary'] as const;

const bike = z.optional(z.object({ name: z.string(), rider: z.nullable(z.string()) }));

export const bikes = defineContract('bikes', {
  /** The bike, or `undefined` if there is none. */
  bike: { access: 'read', args: z.object({ id: z.int() }), result: bike },
  /** Rents the bike if it is free. Returns it with the rider who has it now. */
  rent: { access: 'write', args: z.object({ id: z.int(), rider: z.string() }), result: bike },
});
