/** `renew`: a fresh token for a connection that is open already. */
import * as z from 'zod/v4-mini';
import { connectionNumber, TOKEN_LENGTH_MAX, type MessageKind } from './message-kind.ts';

/** `[0, 'renew', token]`, from the client. The principal must stay the same. */
export type RenewRow = readonly [id: 0, kind: 'renew', token: string];

/** The kind `renew`. */
export const renew: MessageKind<RenewRow> = {
  kind: 'renew',
  fields: ['id', 'kind', 'token'],
  schema: z.tuple([connectionNumber, z.literal('renew'), z.string().check(z.maxLength(TOKEN_LENGTH_MAX))]),
};
