/**
 * A server of the protocol, written by hand on TCP: gets a connection to a state, does something to it there, and serves
 * every later connection as it should be. It executes an update once, by the name that its client gave it, and counts.
 */
import { createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { LEVELS } from '../wire.ts';
import type { Happening, Scene } from './happenings.ts';
import { RawPeer } from './raw-peer.ts';
import { encode, failRow, isRepeated, say, viewRow, welcomeRow, type Row } from './rows.ts';
import { frame, OPCODE, upgradeAnswer } from './ws-frames.ts';

/** At which word of the client the server turns hostile, and how much of its answer it has said by then. */
export interface ServerStage {
  /** The client's word: its upgrade request, or a row of this kind. */
  readonly at: 'connection' | 'upgrade' | 'hello' | 'submit' | 'ping' | 'close';
  /** Rows said before, instead of the answer. */
  readonly first?: ((row: Row) => Row[]) | undefined;
  /** How much of the answer is said before. */
  readonly share?: number;
  /** Does not answer this kind of row before, so that the client gets there. */
  readonly ignores?: string;
}

/** Name → where. */
export const SERVER_STAGES: Readonly<Record<string, ServerStage>> = {
  'connected, nothing answered': { at: 'connection' },
  'upgrade asked for': { at: 'upgrade' },
  'upgrade half answered': { at: 'upgrade', share: 0.5 },
  'upgraded, hello said': { at: 'hello' },
  'welcome half said': { at: 'hello', share: 0.5 },
  welcomed: { at: 'hello', share: 1 },
  'submission under way': { at: 'submit' },
  'preliminary said': { at: 'submit', first: ([id]) => [viewRow(Number(id), 0, 0, 'early')] },
  'answer half said': { at: 'submit', share: 0.5 },
  answered: { at: 'submit', share: 1 },
  draining: { at: 'submit', first: () => [say.goaway(300)] },
  'asked whether it is there': { at: 'ping', ignores: 'submit' },
  closing: { at: 'close' },
};

export class ScriptedServer implements AsyncDisposable {
  readonly executed = new Map<string, number>();
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  readonly #replies = new Map<string, Row>();
  readonly #stage: ServerStage;
  readonly #happening: Happening;
  #hasHappened = false;

  private constructor(server: Server, stage: ServerStage, happening: Happening) {
    this.#server = server;
    this.#stage = stage;
    this.#happening = happening;
    server.on('connection', (socket) => {
      this.#sockets.add(socket);
      socket.on('close', () => this.#sockets.delete(socket));
      this.#serve(new RawPeer(socket));
    });
  }

  static async start(stage: ServerStage, happening: Happening): Promise<ScriptedServer> {
    const server = createServer({ allowHalfOpen: true });
    const scripted = new ScriptedServer(server, stage, happening);
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return scripted;
  }

  get url(): string {
    return `ws://127.0.0.1:${(this.#server.address() as AddressInfo).port}/here`;
  }

  timesOf(mark: string): number {
    return this.executed.get(mark) ?? 0;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  #serve(peer: RawPeer): void {
    const isHostile = !this.#hasHappened;
    let client = '';
    if (isHostile && this.#stage.at === 'connection') return this.#happen(peer, Buffer.alloc(0));
    void peer
      .until(() => peer.head.includes('\r\n\r\n'))
      .then(() => {
        const answer = Buffer.from(upgradeAnswer(peer.head));
        if (isHostile && this.#stage.at === 'upgrade') return this.#turn(peer, answer);
        peer.upgraded();
        peer.write(answer);
      });
    if (isHostile && this.#stage.at === 'close') {
      void peer.until(() => peer.opcodes.includes(OPCODE.close)).then(() => this.#happen(peer, Buffer.alloc(0)));
    }
    peer.onRow = (row) => {
      if (row[1] === 'hello') client = (row[2] as { client: string }).client;
      if (isHostile && this.#hasHappened) return;
      if (isHostile && row[1] === this.#stage.ignores) {
        this.#answer(client, row);
        return;
      }
      const reply = this.#answer(client, row);
      if (reply === undefined) return;
      const bytes = framed([reply]);
      if (!isHostile || row[1] !== this.#stage.at) return peer.write(bytes);
      const first = this.#stage.first?.(row);
      if (first !== undefined) peer.write(framed(first));
      this.#turn(peer, bytes);
    };
  }

  #turn(peer: RawPeer, answer: Buffer): void {
    const said = Math.floor(answer.length * (this.#stage.share ?? 0));
    peer.write(answer.subarray(0, said));
    this.#happen(peer, answer.subarray(said));
  }

  #happen(peer: RawPeer, rest: Buffer): void {
    this.#hasHappened = true;
    const scene: Scene = { peer, rest, isMasked: false };
    void Promise.resolve(this.#happening(scene));
  }

  #answer(client: string, row: Row): Row | undefined {
    switch (row[1]) {
      case 'hello':
        return welcomeRow(LEVELS);
      case 'ping':
        return say.pong(Number(row[0]));
      case 'submit':
        return this.#execute(client, row);
      default:
        return undefined;
    }
  }

  #execute(client: string, row: Row): Row {
    const [id, , , effect, levels, args] = row as [number, string, string, string, number, { mark: string }];
    const level = 31 - Math.clz32(levels);
    if (effect === 'read') return viewRow(id, level, 0, this.timesOf(args.mark));
    const name = `${client}/${id}`;
    const known = this.#replies.get(name);
    if (known !== undefined) return known;
    if (isRepeated(row)) return failRow(id, 'UNKNOWN', 'was sent before, and nobody remembers it');
    this.executed.set(args.mark, this.timesOf(args.mark) + 1);
    const reply = viewRow(id, level, 0, this.timesOf(args.mark));
    this.#replies.set(name, reply);
    return reply;
  }
}

function framed(rows: readonly Row[]): Buffer {
  return frame(encode(rows, 'json'), { isMasked: false });
}
