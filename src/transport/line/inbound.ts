/** Reads the server's frames: every row is checked before anything acts on it. */
import type { Codec, Encoded } from '../../protocol/codec/codec.ts';
import { createRowCheck } from '../../protocol/rows/row-check.ts';
import { isPlainView } from '../../protocol/rows/plain-rows.ts';
import { serverKinds, type ServerRow } from '../../protocol/rows/server-kinds.ts';
import { reportUncaught } from '../settings/callbacks.ts';

/** Who acts on the rows of a line. */
export interface InboundHandler<L> {
  row(row: ServerRow, line: L): void;
  /** A row that is none; `id` is the operation that it seems to be about, or 0. */
  malformed(id: number, message: string, line: L): void;
}

const checkRow = createRowCheck(serverKinds, { isPlain: isPlainView });

/** Hands the rows of a frame to `handler`, in order. What one row leads to, however it ends, keeps no other from it. */
export function readFrame<L>(codec: Codec, frame: Encoded, handler: InboundHandler<L>, line: L): void {
  let rows: unknown[];
  try {
    rows = codec.decode(frame);
  } catch (error) {
    return handler.malformed(0, `the server sent a malformed frame: ${(error as Error).message}`, line);
  }
  for (const received of rows) {
    try {
      readRow(received, handler, line);
    } catch (error) {
      reportUncaught(error);
    }
  }
}

function readRow<L>(received: unknown, handler: InboundHandler<L>, line: L): void {
  const problem = checkRow(received);
  if (problem === undefined) return handler.row(received as ServerRow, line);
  handler.malformed(problem.id, `the server sent a malformed row: ${problem.field}: ${problem.reason}`, line);
}
