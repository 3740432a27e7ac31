/**
 * The client of the bare echo: it sends the rows that this package would send, with one promise for
 * each, and does nothing else.
 */
import { Packr } from 'msgpackr';
import type { WebSocket } from 'ws';
import { CountedSocket } from './counting-socket.ts';
import { firstOf, joined, LENGTH_BYTES } from './echo-frame-parts.ts';
import type { BytesPerOp } from './messages.ts';

/**
 * The codec of the frames: the format of this package's default codec, by a fast MessagePack
 * library.
 */
const codec = new Packr({ useRecords: false });

/** Sends a submission's fields and waits for the row to come back. */
export type SendRow = (fields: readonly unknown[]) => Promise<unknown>;

/**
 * Connects to the echo. `bytes` returns the size that an operation should have, if that is known.
 */
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
 * Encodes the rows of one tick in one frame: numbers that are sent back, and keys that are not.
 * Each part is padded to the size that this many operations should have.
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
    // Send only the key: with all arguments, the frame would be too large already if most of it is
    // sent back.
    remaining.push(fields[4]);
    if (back.push([number, 1]) === 1) setImmediate(flush);
    return new Promise((resolve) => pending.set(number, resolve));
  };
}

/**
 * Encodes a frame. `back` has one row for each operation, and is sent back. `rest` is not. `bytes`
 * is the size of each operation, if it is specified.
 */
export function equalFrame(
  {
    back,
    rest: remaining,
  }: { readonly back: readonly unknown[]; readonly rest: readonly unknown[] },
  { sent, received }: BytesPerOp = { sent: 0, received: 0 },
): Buffer {
  const returned = filled(back, received * back.length);
  const left = sent * back.length - returned.length - LENGTH_BYTES;
  return joined(returned, filled(remaining, left));
}

/** Encodes the rows, padded to about this many bytes. */
function filled(rows: readonly unknown[], bytes: number): Buffer {
  const alone = codec.pack(rows);
  const filling = FILLING.subarray(0, Math.max(0, Math.round(bytes) - alone.length - LENGTH_BYTES));
  return joined(alone, filling);
}

const FILLING = Buffer.alloc(1 << 17);
