/**
 * Websocket connections of a load generator at the lowest possible cost: plain TCP sockets with
 * hand-written frames. A client of this package would need processor time of the machine that it
 * shares with the servers.
 */
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';

/** Opcodes of the websocket protocol. */
const PING = 9;
const PONG = 10;
const CLOSE = 8;

/** One connection, with at most one request in flight. */
export interface Connection {
  /** Sends one message; resolves with the next message that arrives. */
  ask(message: Uint8Array): Promise<Buffer>;
  /** Sends one message that has no answer. */
  send(message: Uint8Array): void;
}

/** Connects and upgrades to a websocket. @param subprotocol none for a bare echo */
export async function openConnection(url: string, subprotocol?: string): Promise<Connection> {
  const { hostname, port, pathname } = new URL(url);
  const socket = connect({ host: hostname, port: Number(port), noDelay: true });
  socket.write(
    [
      `GET ${pathname} HTTP/1.1`,
      `Host: ${hostname}:${port}`,
      'Connection: Upgrade',
      'Upgrade: websocket',
      'Sec-WebSocket-Version: 13',
      `Sec-WebSocket-Key: ${Buffer.alloc(16, port).toString('base64')}`,
      ...(subprotocol === undefined ? [] : [`Sec-WebSocket-Protocol: ${subprotocol}`]),
      '\r\n',
    ].join('\r\n'),
  );
  const [head] = (await once(socket, 'data')) as [Buffer];
  if (!head.toString('latin1').startsWith('HTTP/1.1 101'))
    throw new Error(`no websocket: ${head.toString('latin1')}`);
  return connectionOver(socket);
}

function connectionOver(socket: Socket): Connection {
  let resolve: ((message: Buffer) => void) | undefined;
  let unread: Buffer | undefined;
  const take = (opcode: number, payload: Buffer): void => {
    if (opcode === PING) return void socket.write(frameOf(PONG, payload));
    if (opcode === CLOSE) throw new Error(`the server closed: ${payload.subarray(2).toString()}`);
    return resolve?.(payload);
  };
  socket.on('data', (data) => {
    let bytes = unread === undefined ? data : Buffer.concat([unread, data]);
    for (let end = endOf(bytes); end <= bytes.length; end = endOf(bytes)) {
      take((bytes[0] as number) & 15, bytes.subarray(headBytesOf(bytes), end));
      bytes = bytes.subarray(end);
    }
    unread = bytes.length === 0 ? undefined : bytes;
  });
  return {
    ask(message) {
      const answer = new Promise<Buffer>((done) => (resolve = done));
      socket.write(frameOf(2, message));
      return answer;
    },
    send: (message) => void socket.write(frameOf(2, message)),
  };
}

/** Frames of servers are not masked, and none here is longer than 64 KiB. */
function headBytesOf(frame: Buffer): number {
  return ((frame[1] as number) & 127) === 126 ? 4 : 2;
}

/** Returns the end of the first frame; `Infinity` if it is not known yet. */
function endOf(bytes: Buffer): number {
  if (bytes.length < 2) return Infinity;
  const short = (bytes[1] as number) & 127;
  if (short < 126) return 2 + short;
  return bytes.length < 4 ? Infinity : 4 + bytes.readUInt16BE(2);
}

/** The mask of frames. It is not zero, because a server could skip the unmasking then. */
const MASK = [18, 52, 86, 120] as const;

/** Encodes a frame. Clients must mask their frames. */
function frameOf(opcode: number, payload: Uint8Array): Buffer {
  const { length } = payload;
  const at = length < 126 ? 6 : 8;
  const frame = Buffer.alloc(at + length);
  frame[0] = 128 | opcode;
  frame[1] = 128 | (length < 126 ? length : 126);
  if (length >= 126) frame.writeUInt16BE(length, 2);
  frame.set(MASK, at - 4);
  for (let n = 0; n < length; n += 1)
    frame[at + n] = (payload[n] as number) ^ (MASK[n & 3] as number);
  return frame;
}
