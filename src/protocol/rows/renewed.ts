/** `renewed`: the server took the fresh token. */
import * as z from 'zod/v4-mini';
import { connectionNumber, count, maybe, type MessageKind } from './message-kind.ts';

/** `[0, 'renewed', expiresInMs?]`, from the server: how long the token lasts, if it ends at all. */
export type RenewedRow = readonly [id: 0, kind: 'renewed', expiresInMs?: number | null | undefined];

/** The kind `renewed`. */
export const renewed: MessageKind<RenewedRow> = {
  kind: 'renewed',
  fields: ['id', 'kind', 'expiresInMs'],
  schema: z.tuple([connectionNumber, z.literal('renewed'), maybe(count)]),
};
