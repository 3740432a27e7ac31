/** How an update ended, kept for a repetition of it: by itself, without the memory that it was written in. */
import type { EncodedRow } from '../../protocol/codec.ts';

/** An ending that can be told again. */
export type Reply =
  | { readonly row: EncodedRow; readonly isFailure: boolean }
  /** What nobody can change need not be kept in its encoded form. */
  | { readonly scalar: unknown; readonly level: number; readonly seq: number };

/** The memory that the reply takes, in bytes. */
export function bytesOf(reply: Reply): number {
  if ('row' in reply) return reply.row.length;
  return typeof reply.scalar === 'string' ? reply.scalar.length : 0;
}

/** The reply in memory of its own: a row of 20 bytes would keep all of the block that it was written in. */
export function apart(reply: Reply): Reply {
  if (!('row' in reply) || typeof reply.row === 'string') return reply;
  const { block, start, length } = reply.row;
  return { row: { block: block.slice(start, start + length), start: 0, length }, isFailure: reply.isFailure };
}
