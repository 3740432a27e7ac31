/** `cancel`: the client wants no more views of an operation. An update that has begun runs to its end; `fail` with `UNKNOWN` says so. */
import * as z from 'zod/v4-mini';
import { operationNumber, type MessageKind } from './message-kind.ts';

/** `[id, 'cancel']`, from the client. */
export type CancelRow = readonly [id: number, kind: 'cancel'];

/** The kind `cancel`. */
export const cancel: MessageKind<CancelRow> = {
  kind: 'cancel',
  fields: ['id', 'kind'],
  schema: z.tuple([operationNumber, z.literal('cancel')]),
};
