/** The client of the bare echo: the rows that this package would send, one promise each, without anything else. */
import { Packr } from 'msgpackr';
import { WebSocket } from 'ws';
import type { Mode } from './messages.ts';

/** The frames are those of this package's default codec, written and read by a fast MessagePack library. */
const codec = new Packr({ useRecords: false });

/** Sends a submission's fields and waits for the row to come back. */
export type SendRow = (fields: readonly unknown[]) => Promise<unknown>;

/** Connects; `how` says in which frames rows travel. */
export async function openEcho(url: string, how: Mode): Promise<SendRow> {
  const socket = new WebSocket(url, { perMessageDeflate: false });
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
    const parsed: unknown = codec.unpack(data);
    if (how === 'echo-array') for (const row of parsed as [number][]) settle(row);
    else settle(parsed as [number]);
  });
  const post = how === 'echo-array' ? batched(socket) : how === 'echo-cork' ? corked(socket) : plain(socket);
  let id = 0;
  return (fields) => {
    const number = ++id;
    post([number, 'submit', ...fields]);
    return new Promise((resolve) => pending.set(number, resolve));
  };
}

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
