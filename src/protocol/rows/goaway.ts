/** `goaway`: the server will close this connection once the operations under way on it have ended. */
import * as z from 'zod/v4-mini';
import { connectionNumber, count, type MessageKind } from './message-kind.ts';

/** `[0, 'goaway', drainMs]`, from the server: submit nothing more here; the connection closes within `drainMs`. */
export type GoawayRow = readonly [id: 0, kind: 'goaway', drainMs: number];

/** The kind `goaway`. */
export const goaway: MessageKind<GoawayRow> = {
  kind: 'goaway',
  fields: ['id', 'kind', 'drainMs'],
  schema: z.tuple([connectionNumber, z.literal('goaway'), count]),
};
