/** The connection of one client to a server. Replies are sent in the order of the requests. */
import type { Socket } from 'node:net';
import { createJuteSplitter, JuteReader } from '../../../src/bindings/zookeeper/client/jute.ts';
import type { AskedUpdate } from './wire.ts';

const FRAME_BYTES_MAX = 1024 * 1024;

/** A request that has no reply yet. */
export interface Waiting {
  readonly connection: FakeConnection;
  readonly session: bigint;
  readonly xid: number;
  readonly type: number;
  readonly path: string;
  readonly updates: readonly AskedUpdate[];
  /**
   * Creates the reply to a request that needs no agreement, when all earlier requests have been
   * answered.
   */
  readonly serve: (() => Buffer) | undefined;
  /** The reply, once there is one. */
  reply: Buffer | undefined;
  /** Not answered before that. */
  isHeld: boolean;
  /** Whether the connection is cut instead of sending the reply. */
  cutsAfter: boolean;
}

export class FakeConnection {
  session = 0n;
  isOver = false;
  readonly #socket: Socket;
  readonly #garble: (frame: Buffer) => Buffer;
  readonly #waiting: Waiting[] = [];

  constructor(
    socket: Socket,
    garble: (frame: Buffer) => Buffer,
    {
      onFrame,
      onEnd,
    }: { readonly onFrame: (reader: JuteReader) => void; readonly onEnd: () => void },
  ) {
    this.#socket = socket;
    this.#garble = garble;
    const frames = createJuteSplitter(FRAME_BYTES_MAX);
    socket.on('data', (chunk: Buffer) =>
      frames.push(chunk, (frame) => onFrame(new JuteReader(frame))),
    );
    socket.on('error', () => {});
    socket.on('close', () => {
      this.isOver = true;
      onEnd();
    });
  }

  write(frame: Buffer): void {
    if (!this.isOver) this.#socket.write(frame);
  }

  /** Holds all output until `uncork`, which sends it in one piece. */
  cork(): void {
    this.#socket.cork();
  }

  uncork(): void {
    this.#socket.uncork();
  }

  /** Cuts the connection. */
  cut(): void {
    this.isOver = true;
    this.#socket.destroy();
  }

  /** Ends the connection when all output has been written. */
  end(): void {
    this.#socket.end();
  }

  push(waiting: Waiting): void {
    this.#waiting.push(waiting);
  }

  /** Sends the replies that are due. A reply waits for those of all earlier requests. */
  advance(): void {
    for (let next = this.#waiting[0]; next !== undefined && !this.isOver; next = this.#waiting[0]) {
      if (next.isHeld) return;
      next.reply ??= next.serve?.();
      if (next.reply === undefined) return;
      this.#waiting.shift();
      if (next.cutsAfter) return this.cut();
      this.write(this.#garble(next.reply));
    }
  }
}
