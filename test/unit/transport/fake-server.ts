/** A server for the sockets of a `FakePlatform` that does all that it should, step by step. */
import { PROTOCOL_VERSION } from '../../../src/protocol/codec/version.ts';
import { LEVELS } from '../../support/wire.ts';
import { settled, type FakePlatform, type FakeSocket } from './fake-platform.ts';
import { LIMITS } from './set-up.ts';

/** Lets clients in, executes each update once, answers pings and renewals. */
export class FakeServer {
  readonly #platform: FakePlatform;
  readonly #read = new Map<FakeSocket, number>();
  /** The numbers of the updates that were executed. */
  readonly executed = new Set<unknown>();
  /** Executes, but answers nothing. */
  mute = false;
  expiresInMs: number | undefined;

  constructor(platform: FakePlatform) {
    this.#platform = platform;
  }

  /** Serves for a while. */
  async serve(forMs: number, stepMs = 50): Promise<void> {
    for (let ms = 0; ms < forMs; ms += stepMs) {
      this.#platform.advance(stepMs);
      await settled();
      for (const socket of this.#platform.sockets) if (!socket.closedByClient) this.#answer(socket);
      this.#platform.tick();
      await settled();
    }
  }

  #answer(socket: FakeSocket): void {
    const from = this.#read.get(socket);
    if (from === undefined) {
      this.#read.set(socket, 0);
      return socket.open();
    }
    const rows = socket.sent.slice(from);
    this.#read.set(socket, socket.sent.length);
    const answers = rows.flatMap((row) => this.#answersTo(row));
    if (answers.length > 0) socket.receive(...answers);
  }

  #answersTo([id, kind, , effect]: unknown[]): unknown[][] {
    if (kind === 'submit' && effect === 'write') this.executed.add(id);
    if (kind === 'submit') return this.mute ? [] : [[id, 'view', 1, 0, 'done']];
    if (kind === 'ping') return [[id, 'pong']];
    if (kind === 'renew') return [[0, 'renewed', this.expiresInMs]];
    if (kind !== 'hello') return [];
    const { expiresInMs } = this;
    return [
      [
        0,
        'welcome',
        { version: PROTOCOL_VERSION, levels: LEVELS, memoryId: 'm', limits: LIMITS, expiresInMs },
      ],
    ];
  }
}
