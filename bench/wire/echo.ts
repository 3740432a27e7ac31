/** The client of the bare echo: the rows that this package would send, one promise each, without anything else. */
import { Packr } from 'msgpackr';
import type { WebSocket } from 'ws';
import { CountedSocket } from './counted-socket.ts';
import { firstOf, joined, LENGTH_BYTES } from './echo-halves.ts';
import type { BytesPerOp, Mode } from './messages.ts';

/** The frames are those of this package's default codec, written and read by a fast MessagePack library. */
const codec = new Packr({ useRecords: false });

/** Sends a submission's fields and waits for the row to come back. */
export type SendRow = (fields: readonly unknown[]) => Promise<unknown>;

/** Connects; `how` says in which frames rows travel, and `bytes` what they are to take, where that is asked for. */
export async function openEcho(url: string, how: Mode, bytes: () => BytesPerOp | undefined): Promise<SendRow> {
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
    if (isEqual(how)) {
      for (const row of codec.unpack(firstOf(data)) as [number][]) settle(row);
      return;
    }
    const parsed: unknown = codec.unpack(data);
    if (how === 'echo-array') for (const row of parsed as [number][]) settle(row);
    else settle(parsed as [number]);
  });
  if (isEqual(how)) return equalTo(socket, pending, bytes);
  const post = how === 'echo-array' ? batched(socket) : how === 'echo-cork' ? corked(socket) : plain(socket);
  let id = 0;
  return (fields) => {
    const number = ++id;
    post([number, 'submit', ...fields]);
    return new Promise((resolve) => pending.set(number, resolve));
  };
}

function isEqual(how: Mode): boolean {
  return how === 'echo-equal' || how === 'echo-equal-views';
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
  let rest: unknown[] = [];
  let id = 0;
  const flush = (): void => {
    socket.send(equalFrame({ back, rest }, bytes()));
    back = [];
    rest = [];
  };
  return (fields) => {
    const number = ++id;
    // The key alone: with all arguments a frame would be too large already where much of it comes back.
    rest.push(fields[4]);
    if (back.push([number, 1]) === 1) setImmediate(flush);
    return new Promise((resolve) => pending.set(number, resolve));
  };
}

/** `back`: one row an operation, which comes back; `rest` does not. `bytes`: what each is to take, where that is asked for. */
export function equalFrame(
  { back, rest }: { readonly back: readonly unknown[]; readonly rest: readonly unknown[] },
  { sent, received }: BytesPerOp = { sent: 0, received: 0 },
): Buffer {
  const returned = filled(back, received * back.length);
  const left = sent * back.length - returned.length - LENGTH_BYTES;
  return joined(returned, filled(rest, left));
}

/** The rows, and what fills them up to about so many bytes. */
function filled(rows: readonly unknown[], bytes: number): Buffer {
  const alone = codec.pack(rows);
  const filling = FILLING.subarray(0, Math.max(0, Math.round(bytes) - alone.length - LENGTH_BYTES));
  return joined(alone, filling);
}

const FILLING = Buffer.alloc(1 << 17);

type Post = (row: readonly unknown[]) => void;

function plain(socket: WebSocket): Post {
  return (row) => socket.send(codec.pack(row));
}

/** A frame a row; those of one tick in one write. */
function corked(socket: WebSocket): Post {
  const { _socket: tcp } = socket as unknown as { _socket: { cork(): void; uncork(): void } };
  let held = false;
  return (row) => {
    if (!held) {
      held = true;
      tcp.cork();
      setImmediate(() => {
        held = false;
        tcp.uncork();
      });
    }
    socket.send(codec.pack(row));
  };
}

/** The rows of one tick in one frame. */
function batched(socket: WebSocket): Post {
  let rows: unknown[] = [];
  return (row) => {
    if (rows.push(row) > 1) return;
    setImmediate(() => {
      const frame = codec.pack(rows);
      rows = [];
      socket.send(frame);
    });
  };
}
