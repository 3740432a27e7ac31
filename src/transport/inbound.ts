/** Reads the server's frames: every row is checked before anything acts on it. */
import type { Codec, Encoded } from '../protocol/codec.ts';
import { createRowCheck } from '../protocol/row-check.ts';
import { isPlainView } from '../protocol/plain-rows.ts';
import type { ServerRow } from '../protocol/rows.ts';
import { serverKinds } from '../protocol/server-kinds.ts';

/** Who acts on the rows. */
export interface InboundHandler {
  row(row: ServerRow): void;
  /** A row that is none; `id` is the operation that it seems to be about, or 0. */
  malformed(id: number, message: string): void;
}

const checkRow = createRowCheck(serverKinds, { isPlain: isPlainView });

/** Hands the rows of a frame to `handler`, in order. */
export function readFrame(codec: Codec, frame: Encoded, handler: InboundHandler): void {
  let rows: unknown[];
  try {
    rows = codec.decode(frame);
  } catch (error) {
    return handler.malformed(0, `the server sent a malformed frame: ${(error as Error).message}`);
  }
  for (const received of rows) {
    const problem = checkRow(received);
    if (problem === undefined) handler.row(received as ServerRow);
    else handler.malformed(problem.id, `the server sent a malformed row: ${problem.field}: ${problem.reason}`);
  }
}
