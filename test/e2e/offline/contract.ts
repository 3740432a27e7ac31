/** The notes of the offline page: each user has one, which no other user may see. */
import * as z from 'zod';
import { defineContract, operation } from '../../../src/contract/index.ts';

const owner = z.string();
const key = (args: { owner: string }): string => args.owner;

export const notes = defineContract('notes', {
  write: operation({
    access: 'write',
    args: z.object({ owner, text: z.string() }),
    result: z.null(),
    key,
  }),
  read: operation({
    access: 'read',
    args: z.object({ owner }),
    result: z.string().nullable(),
    key,
  }),
});
