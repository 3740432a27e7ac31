/** `incoming`: a large frame follows. Until all of it has come nothing else can, which is no sign that nobody is there. */
import * as z from 'zod/v4-mini';
import { count, type MessageKind } from './message-kind.ts';

/** `[bytes, 'incoming']`, from the server: how large the next frame is. */
export type IncomingRow = readonly [bytes: number, kind: 'incoming'];

/** Frames from this size on are announced, in bytes. */
export const ANNOUNCED_BYTES_MIN = 1 << 16;

/** The kind `incoming`. */
export const incoming: MessageKind<IncomingRow> = {
  kind: 'incoming',
  fields: ['bytes', 'kind'],
  schema: z.tuple([count, z.literal('incoming')]),
};
