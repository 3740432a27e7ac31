/**
 * A node with scripted replies: one CQL server on this machine, with every fault that a script can
 * name.
 */
import { createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { createServer as createTlsServer } from 'node:tls';
import { OPCODE } from '../../../../src/research/cassandra-icg/protocol.ts';
import type { Column } from '../../../../src/research/cassandra-icg/columns.ts';
import * as bodies from './bodies.ts';

/** A request as it came. */
export interface Request {
  readonly opcode: number;
  readonly stream: number;
  /** The body behind the custom payload. */
  readonly body: Buffer;
  /** The byte of the payload's entry `icg`; undefined where there is none. */
  readonly icg: number | undefined;
}

export type Script = (request: Request, peer: Peer) => void;

/** An EXECUTE of the test's statements: id and the fixed part of its parameters. */
export interface Executed {
  readonly id: string;
  readonly consistency: number;
  readonly flags: number;
}

export const SKIP_METADATA = 2;
/** The column that all rows of the scripts have: `v text`. */
export const COLUMNS: readonly Column[] = [{ name: 'v', type: { code: 0x0d, type: null } }];
const FLAG_PAYLOAD = 4;
const HEADER_BYTES = 9;

/** One client, as the node sees it. */
export class Peer {
  readonly socket: Socket;
  /** The columns of the node's rows. */
  readonly columns: () => readonly Column[];
  /** Chunks that arrived: requests of one tick come in one. */
  chunks = 0;

  constructor(socket: Socket, columns: () => readonly Column[]) {
    this.socket = socket;
    this.columns = columns;
  }

  cut(): void {
    this.socket.destroy();
  }

  send(bytes: Buffer): void {
    this.socket.write(bytes);
  }

  reply(stream: number, opcode: number, body: Uint8Array = Buffer.alloc(0)): void {
    this.send(bodies.responseFrame({ stream, opcode, body }));
  }

  error(stream: number, code: number, remaining?: Buffer): void {
    this.reply(
      stream,
      OPCODE.error,
      bodies.errorBody(code, `scripted 0x${code.toString(16)}`, remaining),
    );
  }

  /** Rows of texts, as the answer number `icg` of an incremental read, or as a normal one. */
  rows(
    stream: number,
    texts: readonly string[],
    { icg, ...rest }: Partial<bodies.RowsBody> & { icg?: number } = {},
  ): void {
    const rows = texts.map((text) => [Buffer.from(text)]);
    this.#result(stream, bodies.rowsBody({ columns: this.columns(), rows, ...rest }), icg);
  }

  confirm(stream: number): void {
    this.#result(stream, bodies.voidBody(), 2);
  }

  #result(stream: number, body: Buffer, icg: number | undefined): void {
    const front =
      icg === undefined ? Buffer.alloc(0) : bodies.prelude({ payload: { icg: Buffer.of(icg) } });
    const flags = icg === undefined ? 0 : FLAG_PAYLOAD;
    this.send(
      bodies.responseFrame({
        stream,
        opcode: OPCODE.result,
        flags,
        body: Buffer.concat([front, body]),
      }),
    );
  }
}

export interface NodeSettings {
  /** What to do with an EXECUTE; it is never answered unless given. */
  readonly onExecute?: Script;
  /**
   * What to do with other requests, instead of what a node does. @returns whether it has done it
   */
  readonly onRequest?: (request: Request, peer: Peer) => boolean;
  readonly isCorrectable?: boolean;
  readonly parameters?: readonly Column[];
  readonly columns?: readonly Column[];
  readonly tls?: { readonly key: string; readonly cert: string };
  readonly port?: number;
}

export class ScriptedNode implements AsyncDisposable {
  onExecute: Script;
  onRequest: (request: Request, peer: Peer) => boolean;
  columns: readonly Column[];
  readonly peers: Peer[] = [];
  readonly requests: Request[] = [];
  readonly #settings: NodeSettings;
  readonly #server: Server;
  readonly #waiting = new Set<() => void>();

  private constructor(settings: NodeSettings) {
    this.#settings = settings;
    this.onExecute = settings.onExecute ?? (() => {});
    this.onRequest = settings.onRequest ?? (() => false);
    this.columns = settings.columns ?? COLUMNS;
    const accept = (socket: Socket): void => this.#accept(socket);
    this.#server =
      settings.tls === undefined ? createServer(accept) : createTlsServer(settings.tls, accept);
    this.#server.on('tlsClientError', () => {});
  }

  static async start(settings: NodeSettings = {}): Promise<ScriptedNode> {
    const node = new ScriptedNode(settings);
    await new Promise<void>((resolve) =>
      node.#server.listen(settings.port ?? 0, '127.0.0.1', resolve),
    );
    return node;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  get address(): string {
    return `127.0.0.1:${this.port}`;
  }

  /** How many requests of a kind have come. */
  count(opcode: number): number {
    return this.requests.filter((request) => request.opcode === opcode).length;
  }

  executed(n = 0): Executed & { readonly request: Request } {
    const request = this.requests.filter(({ opcode }) => opcode === OPCODE.execute)[n];
    if (request === undefined) throw new Error(`there is no EXECUTE number ${n}`);
    const length = request.body.readUInt16BE(0);
    const id = request.body.toString('utf8', 2, 2 + length);
    return {
      request,
      id,
      consistency: request.body.readUInt16BE(2 + length),
      flags: request.body.readUInt8(4 + length),
    };
  }

  /** Resolves when something that was waited for has come about. */
  async until(condition: (node: this) => boolean): Promise<void> {
    while (!condition(this)) await new Promise<void>((resolve) => this.#waiting.add(resolve));
  }

  async stop(): Promise<void> {
    for (const peer of this.peers) peer.cut();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
  }

  #accept(socket: Socket): void {
    const peer = new Peer(socket, () => this.columns);
    this.peers.push(peer);
    this.#tell();
    let retained: Buffer = Buffer.alloc(0);
    socket.on('error', () => {});
    socket.on('close', () => this.#tell());
    socket.on('data', (chunk: Buffer) => {
      peer.chunks += 1;
      retained = Buffer.concat([retained, chunk]);
      while (
        retained.length >= HEADER_BYTES &&
        retained.length >= HEADER_BYTES + retained.readInt32BE(5)
      ) {
        const end = HEADER_BYTES + retained.readInt32BE(5);
        const request = requestOf(retained.subarray(0, end));
        retained = retained.subarray(end);
        this.requests.push(request);
        this.#answer(request, peer);
      }
      this.#tell();
    });
  }

  #answer(request: Request, peer: Peer): void {
    const { stream, opcode, body } = request;
    if (this.onRequest(request, peer)) return;
    const { parameters = [], isCorrectable = true } = this.#settings;
    switch (opcode) {
      case OPCODE.startup:
        return peer.reply(stream, OPCODE.ready);
      case OPCODE.options: {
        const options = {
          CQL_VERSION: ['3.4.7'],
          ...(isCorrectable && { CORRECTABLES_ICG: ['1'] }),
        };
        return peer.reply(stream, OPCODE.supported, bodies.supportedBody(options));
      }
      case OPCODE.query:
        return peer.reply(stream, OPCODE.result, bodies.setKeyspaceBody('ks'));
      case OPCODE.prepare: {
        // The statement is its own number.
        const prepared = bodies.preparedBody(body.subarray(4), parameters, this.columns);
        return peer.reply(stream, OPCODE.result, prepared);
      }
      case OPCODE.execute:
        return this.onExecute(request, peer);
      default:
        throw new Error(`no node has to know the request ${opcode}`);
    }
  }

  #tell(): void {
    for (const resolve of this.#waiting) resolve();
    this.#waiting.clear();
  }
}

function requestOf(frame: Buffer): Request {
  const opcode = frame.readUInt8(4);
  const stream = frame.readInt16BE(2);
  const body = Buffer.from(frame.subarray(HEADER_BYTES));
  if ((frame.readUInt8(1) & FLAG_PAYLOAD) === 0) return { opcode, stream, body, icg: undefined };
  // One entry, `icg`, of one byte.
  const END = 2 + 2 + 3 + 4 + 1;
  return { opcode, stream, body: body.subarray(END), icg: body.readUInt8(END - 1) };
}
