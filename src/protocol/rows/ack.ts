/** `ack`: the client is done with all operations up to a number, so the server may forget their replies. */
import * as z from 'zod/v4-mini';
import { count, type MessageKind } from './message-kind.ts';

/** `[upTo, 'ack']`, from the client. A later submission with a number of at most `upTo` fails with `EXPIRED_ID`. */
export type AckRow = readonly [upTo: number, kind: 'ack'];

/** The kind `ack`. */
export const ack: MessageKind<AckRow> = {
  kind: 'ack',
  fields: ['upTo', 'kind'],
  schema: z.tuple([count, z.literal('ack')]),
};
