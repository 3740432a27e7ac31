/** `pong`: the answer to `ping`. */
import * as z from 'zod/v4-mini';
import { count, type MessageKind } from './message-kind.ts';

/** `[n, 'pong']`, from either end, with the number of the `ping`. */
export type PongRow = readonly [n: number, kind: 'pong'];

/** The kind `pong`. */
export const pong: MessageKind<PongRow> = {
  kind: 'pong',
  fields: ['n', 'kind'],
  schema: z.tuple([count, z.literal('pong')]),
};
