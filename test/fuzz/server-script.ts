/** A hostile server: each connection gets to some state as it should be, and then something happens, drawn from its seed. */
import { createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { Random } from '../../src/server/collections/random.ts';
import { RawPeer } from '../support/hostile/raw-peer.ts';
import {
  encode,
  toFailMessage,
  isRepeated,
  say,
  createViewMessage,
  createWelcome,
  type CodecName,
  type RawMessage,
} from '../support/hostile/wire-messages.ts';
import { closeFrame, frame, OPCODE, upgradeAnswer } from '../support/hostile/ws-frames.ts';
import { LEVELS } from '../support/wire.ts';
import type { Tally } from './attackers.ts';
import { oddFrame } from './client-script.ts';
import { damagedRow, spoilt } from './mutate-input.ts';

const HTTP_ANSWERS: readonly [string, ...string[]] = [
  'HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n',
  'HTTP/1.1 503 Service Unavailable\r\nContent-Length: 5\r\n\r\nbusy',
  'HTTP/1.1 302 Found\r\nLocation: ws://127.0.0.1:1/\r\n\r\n',
  'HTTP/1.1 101 Switching Protocols\r\n\r\n',
  'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n',
  'SSH-2.0-OpenSSH_9.6\r\n',
  '\u0000\u0001\u0002',
];

export class HostileServer implements AsyncDisposable {
  /** How often updates were executed, by mark. */
  readonly executed = new Map<string, number>();
  /** Visits that got lies: the outcomes of their clients prove nothing. */
  readonly liedTo = new Set<number>();
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  readonly #replies = new Map<string, RawMessage>();
  readonly seed: number;
  readonly tally: Tally;
  #connections = 0;

  private constructor(server: Server, seed: number, stats: Tally) {
    this.#server = server;
    this.seed = seed;
    this.tally = stats;
    server.on('connection', (socket) => {
      this.#sockets.add(socket);
      socket.on('close', () => this.#sockets.delete(socket));
      new HostileConnection(new RawPeer(socket), new Random(seed + ++this.#connections), this).begin();
      stats.connections++;
    });
  }

  static async start(seed: number, stats: Tally): Promise<HostileServer> {
    const server = createServer({ allowHalfOpen: true });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return new HostileServer(server, seed, stats);
  }

  /** The number of a visit is to follow. */
  get url(): string {
    return `ws://127.0.0.1:${(this.#server.address() as AddressInfo).port}/v`;
  }

  /** Executes an update once, by the name that its client gave it, and returns what there is to answer. */
  answer(client: string, row: RawMessage): RawMessage {
    const [id, , , effect, levels, args] = row as [number, string, string, string, number, { mark: string }];
    const level = 31 - Math.clz32(levels);
    if (effect === 'read') return createViewMessage(id, level, 0, 0);
    const name = `${client}/${id}`;
    const known = this.#replies.get(name);
    if (known !== undefined) return known;
    if (isRepeated(row)) return toFailMessage(id, 'UNKNOWN', 'was sent before, and nobody remembers it');
    const times = (this.executed.get(args.mark) ?? 0) + 1;
    this.executed.set(args.mark, times);
    const reply = createViewMessage(id, level, 0, times);
    this.#replies.set(name, reply);
    return reply;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}

class HostileConnection {
  readonly #peer: RawPeer;
  readonly #random: Random;
  readonly #server: HostileServer;
  /** How many rows of the client are answered honestly before it happens; for ever with an honest server. */
  #patience: number;
  readonly #isLying: boolean;
  #codec: CodecName = 'json';
  #client = '';

  constructor(peer: RawPeer, random: Random, server: HostileServer) {
    this.#peer = peer;
    this.#random = random;
    this.#server = server;
    this.#patience = random.chance(0.3) ? Infinity : random.between(-1, 6);
    this.#isLying = random.chance(0.4);
  }

  begin(): void {
    void this.#peer.until(() => this.#peer.head.includes('\r\n\r\n')).then(() => this.#upgrade());
  }

  #upgrade(): void {
    const { head } = this.#peer;
    if (!head.includes('\r\n\r\n')) return this.#peer.destroy();
    if (this.#isLying) this.#server.liedTo.add(Number(/^GET \/v(\d+)/.exec(head)?.[1]));
    const answer = upgradeAnswer(head);
    if (this.#patience < 0) return this.#refuse(answer);
    this.#codec = /msgpack/.test(head) ? 'msgpack' : 'json';
    this.#peer.upgraded();
    this.#peer.onRow = (row) => this.#receive(row);
    this.#peer.write(answer);
  }

  #refuse(answer: string): void {
    const random = this.#random;
    if (random.chance(0.5)) this.#peer.write(random.pick(HTTP_ANSWERS as [string, ...string[]]));
    else this.#peer.write(answer.slice(0, random.between(0, answer.length)));
    this.#leave();
  }

  #receive(row: RawMessage): void {
    const reply = this.#replyTo(row);
    if (reply === undefined) return;
    if (this.#patience-- > 0) this.#say([reply]);
    else this.#happen(reply);
  }

  #replyTo(row: RawMessage): RawMessage | undefined {
    switch (row[1]) {
      case 'hello':
        this.#client = (row[2] as { client: string }).client;
        return createWelcome(LEVELS);
      case 'submit':
        return this.#server.answer(this.#client, row);
      case 'ping':
        return say.pong(Number(row[0]));
      default:
        return undefined;
    }
  }

  #say(rows: readonly RawMessage[]): void {
    this.#write(encode(rows, this.#codec));
  }

  #write(payload: Buffer): void {
    this.#server.tally.frames++;
    const opcode = this.#codec === 'json' ? OPCODE.text : OPCODE.binary;
    this.#peer.write(frame(payload, { opcode, isMasked: false }));
  }

  #happen(reply: RawMessage): void {
    if (this.#isLying) return this.#lie(reply);
    const random = this.#random;
    const bytes = frame(encode([reply], this.#codec), {
      opcode: this.#codec === 'json' ? OPCODE.text : OPCODE.binary,
      isMasked: false,
    });
    switch (random.between(0, 4)) {
      case 0:
        this.#peer.write(bytes.subarray(0, random.between(0, bytes.length)));
        break;
      case 1:
        this.#peer.write(closeFrame(random.pick([1000, 1001, 1009, 1011, 1013, 4402, 4408, 4429, 3000]), false));
        break;
      case 2:
        this.#say([say.goaway(random.between(0, 200))]);
        break;
      case 3:
        void this.#peer.crumble(bytes);
        this.#patience = 3;
        return;
      default:
        break;
    }
    this.#leave();
  }

  /** Sends what no server of ours sends: the client must stay whole, however it handles that. */
  #lie(reply: RawMessage): void {
    const random = this.#random;
    for (let n = random.between(1, 6); n > 0; n--) {
      const row = random.pick([reply, reply, ...this.#lies()] as [RawMessage, ...RawMessage[]]);
      const payload = encode([random.chance(0.5) ? damagedRow(random, row) : row], this.#codec);
      if (random.chance(0.2)) this.#write(spoilt(random, payload));
      else if (random.chance(0.1)) this.#peer.write(oddFrame(random, payload, false));
      else this.#write(payload);
    }
    if (random.chance(0.3))
      this.#peer.write(closeFrame(random.pick([4400, 4401, 4403, 4406, 4409, 1005, 65535]), false));
    if (random.chance(0.5)) this.#leave();
  }

  #lies(): RawMessage[] {
    const id = this.#random.between(1, 8);
    return [
      createWelcome(LEVELS),
      [id, 'confirm', 1, 3],
      [id, 'view', 0, 0, 'early'],
      toFailMessage(id, 'UNAVAILABLE', 'not now'),
      toFailMessage(id, 'NEW_CODE', ''),
      [0, 'fail', 'UNAUTHENTICATED', 'who?'],
      say.goaway(2 ** 31),
      [0, 'renewed', 0],
      [id, 'ping'],
      [id, 'hello', {}],
      [0, 'welcome', { version: 99, levels: [], limits: {} }],
    ];
  }

  #leave(): void {
    switch (this.#random.between(0, 2)) {
      case 0:
        return this.#peer.reset();
      case 1:
        return this.#peer.fin();
      default:
        return undefined;
    }
  }
}
