/** The client of the bare echo: the rows that this package would send, one promise each, without anything else. */
import { Packr } from 'msgpackr';
import type { WebSocket } from 'ws';
import { CountedSocket } from './counting-socket.ts';
import { firstOf, joined, LENGTH_BYTES } from './echo-frame-parts.ts';
import type { BytesPerOp } from './messages.ts';

/** The frames are those of this package's default codec, written and read by a fast MessagePack library. */
const codec = new Packr({ useRecords: false });

/** Sends a submission's fields and waits for the row to come back. */
export type SendRow = (fields: readonly unknown[]) => Promise<unknown>;

/** Connects; `bytes` returns what an operation is to take, if that is known. */
export async function openEcho(url: string, bytes: () => BytesPerOp | undefined): Promise<SendRow> {
  const socket = new CountedSocket(url, { perMessageDeflate: false });
  await new Promise((resolve, reject) => {
    socket.once('open', resolve);
    socket.once('error', reject);
  });
  const pending = new Map<number, (row: unknown) => void>();
  const settle = (row: readonly [number, ...unknown[]]): void => {
    const resolve = pending.get(row[0]);
    pending.delete(row[0]);
    resolve?.(row);
  };
  socket.on('message', (data: Buffer) => {
    for (const row of codec.unpack(firstOf(data)) as [number][]) settle(row);
  });
  return equalTo(socket, pending, bytes);
}

/**
 * The rows of one tick in one frame: numbers that come back, and keys that do not, each part filled up to the size
 * that so many operations are to take.
 */
function equalTo(
  socket: WebSocket,
  pending: Map<number, (row: unknown) => void>,
  bytes: () => BytesPerOp | undefined,
): SendRow {
  let back: unknown[] = [];
  let remaining: unknown[] = [];
  let id = 0;
  const flush = (): void => {
    socket.send(equalFrame({ back, rest: remaining }, bytes()));
    back = [];
    remaining = [];
  };
  return (fields) => {
    const number = ++id;
    // The key alone: with all arguments a frame would be too large already where much of it comes back.
    remaining.push(fields[4]);
    if (back.push([number, 1]) === 1) setImmediate(flush);
    return new Promise((resolve) => pending.set(number, resolve));
  };
}

/** `back`: one row an operation, which comes back; `rest` does not. `bytes`: what each is to take, where that is asked for. */
export function equalFrame(
  { back, rest: remaining }: { readonly back: readonly unknown[]; readonly rest: readonly unknown[] },
  { sent, received }: BytesPerOp = { sent: 0, received: 0 },
): Buffer {
  const returned = filled(back, received * back.length);
  const left = sent * back.length - returned.length - LENGTH_BYTES;
  return joined(returned, filled(remaining, left));
}

/** The rows, and what fills them up to about so many bytes. */
function filled(rows: readonly unknown[], bytes: number): Buffer {
  const alone = codec.pack(rows);
  const filling = FILLING.subarray(0, Math.max(0, Math.round(bytes) - alone.length - LENGTH_BYTES));
  return joined(alone, filling);
}

const FILLING = Buffer.alloc(1 << 17);
