/** `ping`: is anybody there? Answered by `pong` with the same number. A browser cannot send the websocket's own ping. */
import * as z from 'zod/v4-mini';
import { count, type MessageKind } from './message-kind.ts';

/** `[n, 'ping']`, from either end. */
export type PingRow = readonly [n: number, kind: 'ping'];

/** The kind `ping`. */
export const ping: MessageKind<PingRow> = {
  kind: 'ping',
  fields: ['n', 'kind'],
  schema: z.tuple([count, z.literal('ping')]),
};
