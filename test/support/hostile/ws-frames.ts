/** Websocket frames and upgrades as bytes (RFC 6455): correct ones, and every way to get them wrong. */
import { createHash } from 'node:crypto';

export const OPCODE = { continuation: 0, text: 1, binary: 2, close: 8, ping: 9, pong: 10 } as const;

/** How a frame is to be written; clients mask, servers do not. */
export interface FrameShape {
  readonly opcode?: number;
  readonly isFinal?: boolean;
  readonly isMasked: boolean;
  /** The three reserved bits. */
  readonly reserved?: number;
  /** The length in the header, if it is not the true one. */
  readonly claimedBytes?: number;
}

const MASK = Buffer.from([0x11, 0x22, 0x33, 0x44]);

/** A frame with this payload. */
export function frame(payload: Uint8Array, shape: FrameShape): Buffer {
  const { opcode = OPCODE.text, isFinal = true, isMasked, reserved = 0, claimedBytes = payload.length } = shape;
  const first = (isFinal ? 0x80 : 0) | (reserved << 4) | opcode;
  const head = Buffer.concat([Buffer.from([first]), lengthOf(claimedBytes, isMasked)]);
  if (!isMasked) return Buffer.concat([head, payload]);
  const masked = Buffer.from(payload);
  for (let i = 0; i < masked.length; i++) masked[i] = (masked[i] as number) ^ (MASK[i % 4] as number);
  return Buffer.concat([head, MASK, masked]);
}

function lengthOf(bytes: number, isMasked: boolean): Buffer {
  const bit = isMasked ? 0x80 : 0;
  if (bytes < 126) return Buffer.from([bit | bytes]);
  if (bytes < 0x1_0000) return Buffer.from([bit | 126, bytes >> 8, bytes & 0xff]);
  const head = Buffer.alloc(9);
  head[0] = bit | 127;
  head.writeBigUInt64BE(BigInt(bytes), 1);
  return head;
}

/** A close frame. */
export function closeFrame(code: number, isMasked: boolean, reason = ''): Buffer {
  const payload = Buffer.alloc(2 + Buffer.byteLength(reason));
  payload.writeUInt16BE(code);
  payload.write(reason, 2);
  return frame(payload, { opcode: OPCODE.close, isMasked });
}

/** A frame that was read, or a message whose fragments have been put together. */
export interface ReadFrame {
  readonly opcode: number;
  readonly payload: Buffer;
}

interface RawFrame extends ReadFrame {
  readonly isFinal: boolean;
}

/** Takes messages out of a stream of bytes. */
export class FrameReader {
  #rest: Buffer = Buffer.alloc(0);
  /** What came of `#rest` since it was joined last: joining for each packet of a large frame would cost its square. */
  #more: Buffer[] = [];
  #moreBytes = 0;
  #neededBytes = 2;
  #fragments: RawFrame[] = [];

  push(bytes: Buffer): ReadFrame[] {
    this.#more.push(bytes);
    this.#moreBytes += bytes.length;
    if (this.#rest.length + this.#moreBytes < this.#neededBytes) return [];
    this.#rest = Buffer.concat([this.#rest, ...this.#more.splice(0)]);
    this.#moreBytes = 0;
    const messages: ReadFrame[] = [];
    for (let item = this.#next(); item !== undefined; item = this.#next()) this.#collect(item, messages);
    return messages;
  }

  #collect(item: RawFrame, messages: ReadFrame[]): void {
    const isControl = item.opcode >= OPCODE.close;
    if (isControl || (item.isFinal && item.opcode !== OPCODE.continuation)) {
      messages.push(item);
      return;
    }
    this.#fragments.push(item);
    if (!item.isFinal) return;
    const all = this.#fragments.splice(0);
    messages.push({ opcode: all[0]?.opcode ?? 0, payload: Buffer.concat(all.map(({ payload }) => payload)) });
  }

  #next(): RawFrame | undefined {
    const bytes = this.#rest;
    this.#neededBytes = 2;
    if (bytes.length < 2) return undefined;
    const isMasked = ((bytes[1] as number) & 0x80) !== 0;
    let length = (bytes[1] as number) & 0x7f;
    let at = 2;
    if (length === 126) at = 4;
    if (length === 127) at = 10;
    const end = at + (isMasked ? 4 : 0);
    if (bytes.length < end) return undefined;
    if (length === 126) length = bytes.readUInt16BE(2);
    else if (length === 127) length = Number(bytes.readBigUInt64BE(2));
    this.#neededBytes = end + length;
    if (bytes.length < this.#neededBytes) return undefined;
    const payload = Buffer.from(bytes.subarray(end, end + length));
    if (isMasked) {
      for (let i = 0; i < length; i++) payload[i] = (payload[i] as number) ^ (bytes[at + (i % 4)] as number);
    }
    this.#rest = bytes.subarray(end + length);
    this.#neededBytes = 2;
    return { opcode: (bytes[0] as number) & 0x0f, isFinal: ((bytes[0] as number) & 0x80) !== 0, payload };
  }
}

/** An upgrade request, as text. */
export interface UpgradeParts {
  readonly path: string;
  readonly port: number;
  readonly subprotocol: string;
  readonly headers?: readonly string[];
}

export function upgradeRequest({ path, port, subprotocol, headers = [] }: UpgradeParts): string {
  const lines = [
    `GET ${path} HTTP/1.1`,
    `Host: 127.0.0.1:${port}`,
    'Connection: Upgrade',
    'Upgrade: websocket',
    'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==',
    'Sec-WebSocket-Version: 13',
    `Sec-WebSocket-Protocol: ${subprotocol}`,
    ...headers,
  ];
  return `${lines.join('\r\n')}\r\n\r\n`;
}

const GUID = '258EAFA5-E914-47DA-95CA-C5AB0DC85B11';

/** The answer that accepts an upgrade request. */
export function upgradeAnswer(request: string): string {
  const key = /sec-websocket-key: *(\S+)/i.exec(request)?.[1] ?? '';
  const subprotocol = /sec-websocket-protocol: *([^,\r\n]+)/i.exec(request)?.[1] ?? '';
  const accept = createHash('sha1').update(`${key}${GUID}`).digest('base64');
  const lines = [
    'HTTP/1.1 101 Switching Protocols',
    'Upgrade: websocket',
    'Connection: Upgrade',
    `Sec-WebSocket-Accept: ${accept}`,
    `Sec-WebSocket-Protocol: ${subprotocol}`,
  ];
  return `${lines.join('\r\n')}\r\n\r\n`;
}
