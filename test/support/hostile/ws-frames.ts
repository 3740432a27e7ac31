/**
 * Websocket frames and upgrades as bytes (RFC 6455): correct ones, and every way to get them wrong.
 */
export const OPCODE = { continuation: 0, text: 1, binary: 2, close: 8, ping: 9, pong: 10 } as const;

/** How a frame is to be written; clients mask, servers do not. */
interface FrameShape {
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
  const {
    opcode = OPCODE.text,
    isFinal = true,
    isMasked,
    reserved = 0,
    claimedBytes = payload.length,
  } = shape;
  const first = (isFinal ? 0x80 : 0) | (reserved << 4) | opcode;
  const head = Buffer.concat([Buffer.from([first]), lengthOf(claimedBytes, isMasked)]);
  if (!isMasked) return Buffer.concat([head, payload]);
  const masked = Buffer.from(payload);
  for (let i = 0; i < masked.length; i++)
    masked[i] = (masked[i] as number) ^ (MASK[i % 4] as number);
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

/** An upgrade request, as text. */
interface UpgradeParts {
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
