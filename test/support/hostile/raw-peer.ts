/** One end of a TCP connection in the hands of a test: bytes and nothing else, each direction for itself. */
import { connect, type Socket } from 'node:net';
import { once } from 'node:events';
import { decode, type RawMessage } from './wire-messages.ts';
import { FrameReader, OPCODE } from './ws-frames.ts';

/** A socket that reads all it gets, until a test pauses it. */
export class RawPeer {
  readonly socket: Socket;
  /** Rows received, in order, once the connection is upgraded. */
  readonly rows: RawMessage[] = [];
  /** Opcodes of the frames received. */
  readonly opcodes: number[] = [];
  head = '';
  isClosed = false;
  /** Called with each row as it arrives. */
  onRow: ((row: RawMessage) => void) | undefined;
  readonly #frames = new FrameReader();
  #isUpgraded = false;
  #waiting: (() => void)[] = [];

  constructor(socket: Socket) {
    this.socket = socket;
    socket.setNoDelay(true);
    socket.on('error', () => {});
    socket.on('data', (bytes: Buffer) => this.#receive(bytes));
    socket.on('end', () => this.#wake());
    socket.on('close', () => {
      this.isClosed = true;
      this.#wake();
    });
  }

  static async connect(port: number): Promise<RawPeer> {
    const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
    const peer = new RawPeer(socket);
    await once(socket, 'connect');
    return peer;
  }

  /** Whether the other end has closed its sending side. */
  get isEnded(): boolean {
    return this.isClosed || this.socket.readableEnded;
  }

  write(bytes: Uint8Array | string): void {
    if (this.socket.writable) this.socket.write(bytes);
  }

  /** Bytes one by one, each a packet of its own. */
  async crumble(bytes: Uint8Array): Promise<void> {
    for (const byte of bytes) {
      this.write(Uint8Array.of(byte));
      await new Promise(setImmediate);
    }
  }

  /** Ends this direction; the other stays open. */
  fin(): void {
    this.socket.end();
  }

  /** Reads no more: what the other end sends fills its buffers. */
  stopReading(): void {
    this.socket.pause();
  }

  reset(): void {
    this.socket.resetAndDestroy();
  }

  destroy(): void {
    this.socket.destroy();
  }

  /** Fulfilled as soon as `isSo`, or the connection is over. */
  async until(isSo: () => boolean): Promise<void> {
    while (!isSo() && !this.isEnded) await new Promise<void>((resolve) => this.#waiting.push(resolve));
  }

  /** What follows is frames. */
  upgraded(): void {
    this.#isUpgraded = true;
  }

  #receive(bytes: Buffer): void {
    if (this.#isUpgraded) this.#read(bytes);
    else this.#receiveHead(bytes);
    this.#wake();
  }

  #receiveHead(bytes: Buffer): void {
    this.head += bytes.toString('latin1');
    const end = this.head.indexOf('\r\n\r\n');
    if (end < 0 || !this.head.startsWith('HTTP/1.1 101')) return;
    const remaining = Buffer.from(this.head.slice(end + 4), 'latin1');
    this.head = this.head.slice(0, end + 4);
    this.#isUpgraded = true;
    this.#read(remaining);
  }

  #read(bytes: Buffer): void {
    for (const { opcode, payload } of this.#frames.push(bytes)) {
      this.opcodes.push(opcode);
      if (opcode !== OPCODE.text && opcode !== OPCODE.binary) continue;
      for (const row of decode(payload, opcode === OPCODE.binary)) {
        this.rows.push(row);
        this.onRow?.(row);
      }
    }
  }

  #wake(): void {
    for (const resolve of this.#waiting.splice(0)) resolve();
  }
}
