/**
 * The native protocol, version 4, frame by frame: shows what a server really sends, which a driver
 * hides. For tests: one connection, no pool, no retry.
 */
import { connect, type Socket } from 'node:net';
import { once } from 'node:events';
import {
  FRAME_FLAG,
  HEADER_BYTES,
  OPCODE,
  VERSION,
} from '../../../src/research/cassandra-icg/protocol.ts';
import { Bytes } from './raw-cql-bytes.ts';

export const CONSISTENCIES = {
  one: 1,
  two: 2,
  three: 3,
  quorum: 4,
  all: 5,
  localQuorum: 6,
  serial: 8,
  localOne: 10,
  nodeLocal: 11,
} as const;

const KINDS = { 1: 'void', 2: 'rows', 3: 'keyspace', 4: 'prepared', 5: 'schema' } as const;

/** One frame of the server. */
export interface Answer {
  readonly stream: number;
  readonly opcode: number;
  /** Of the whole frame. */
  readonly bytes: number;
  readonly arrivedAt: number;
  /** The id of the request's trace, if there is one. */
  readonly trace: Buffer | undefined;
  readonly warnings: readonly string[];
  readonly icg: number | undefined;
  readonly kind: (typeof KINDS)[keyof typeof KINDS] | 'error' | undefined;
  readonly rows: readonly (readonly (Buffer | null)[])[];
  readonly hasMetadata: boolean;
  readonly pagingState: Buffer | undefined;
  readonly error: { readonly code: number; readonly message: string } | undefined;
  /** What follows the parts that all frames have. */
  readonly body: Buffer;
}

export interface Ask {
  readonly consistency?: keyof typeof CONSISTENCIES;
  /** The byte of the payload; none unless given. */
  readonly icg?: number;
  readonly values?: readonly (Buffer | null)[];
  readonly skipMetadata?: boolean;
  readonly pageSize?: number;
  readonly pagingState?: Buffer;
  readonly tracing?: boolean;
}

interface Waiting {
  readonly answers: Answer[];
  readonly resolve: (answers: Answer[]) => void;
  readonly reject: (error: Error) => void;
}

export class RawCql implements AsyncDisposable {
  /**
   * Frames for streams without a pending request: must stay empty, except for requested preliminary
   * replies.
   */
  readonly aside: Answer[] = [];
  readonly #socket: Socket;
  readonly #waiting = new Map<number, Waiting>();
  #received: Buffer = Buffer.alloc(0);
  #stream = 0;
  #ended: Error | undefined;

  private constructor(socket: Socket) {
    this.#socket = socket;
    socket.setNoDelay();
    socket.on('data', (bytes: Buffer) => this.#onData(bytes));
    socket.on('error', (error) => this.#end(error));
    socket.on('close', () => this.#end(new Error('the server closed the connection')));
  }

  /** Connects to `host:port`, and logs in if it has to. */
  static async connect(
    address: string,
    credentials?: { username: string; password: string },
  ): Promise<RawCql> {
    const [host, port] = address.split(':');
    const socket = connect(Number(port), host);
    await once(socket, 'connect');
    const client = new RawCql(socket);
    const started = await client.send(
      OPCODE.startup,
      new Bytes().stringMap({ CQL_VERSION: '3.0.0' }).end(),
    );
    if (started.at(-1)?.opcode === OPCODE.authenticate) {
      const { username = '', password = '' } = credentials ?? {};
      const token = Buffer.from(`\0${username}\0${password}`);
      const [answer] = await client.send(OPCODE.authResponse, new Bytes().bytes(token).end());
      if (answer?.opcode !== OPCODE.authSuccess)
        throw new Error(`login refused: ${answer?.error?.message ?? '?'}`);
    }
    return client;
  }

  /** The content of SUPPORTED. */
  async options(): Promise<Readonly<Record<string, readonly string[]>>> {
    const [answer] = await this.send(OPCODE.options, Buffer.alloc(0));
    if (answer?.opcode !== OPCODE.supported)
      throw new Error(`no SUPPORTED but opcode ${String(answer?.opcode)}`);
    return new Bytes(answer.body).readMultimap();
  }

  /** All frames of one query, the last one being final. */
  query(cql: string, ask: Ask = {}): Promise<Answer[]> {
    return this.send(
      OPCODE.query,
      Buffer.concat([new Bytes().longString(cql).end(), parametersOf(ask)]),
      ask,
    );
  }

  /** Runs a query that has to succeed; its only frame. */
  async run(cql: string, ask: Ask = {}): Promise<Answer> {
    const [answer] = await this.query(cql, ask);
    if (answer === undefined || answer.error !== undefined)
      throw new Error(`${cql}: ${answer?.error?.message ?? ''}`);
    return answer;
  }

  /** The id of a prepared statement. */
  async prepare(cql: string): Promise<Buffer> {
    const [answer] = await this.send(OPCODE.prepare, new Bytes().longString(cql).end());
    if (answer?.kind !== 'prepared')
      throw new Error(`${cql}: ${answer?.error?.message ?? 'not prepared'}`);
    return new Bytes(answer.body.subarray(4)).readShortBytes();
  }

  execute(id: Buffer, ask: Ask = {}): Promise<Answer[]> {
    return this.send(
      OPCODE.execute,
      Buffer.concat([new Bytes().shortBytes(id).end(), parametersOf(ask)]),
      ask,
    );
  }

  send(opcode: number, body: Buffer, { icg, tracing = false }: Ask = {}): Promise<Answer[]> {
    if (this.#ended !== undefined) return Promise.reject(this.#ended);
    const stream = (this.#stream = (this.#stream + 1) % 32_768);
    const payload =
      icg === undefined ? Buffer.alloc(0) : new Bytes().bytesMap({ icg: Buffer.of(icg) }).end();
    const header = Buffer.alloc(HEADER_BYTES);
    header.writeUInt8(VERSION, 0);
    header.writeUInt8(
      (tracing ? FRAME_FLAG.tracing : 0) | (icg === undefined ? 0 : FRAME_FLAG.payload),
      1,
    );
    header.writeInt16BE(stream, 2);
    header.writeUInt8(opcode, 4);
    header.writeInt32BE(payload.length + body.length, 5);
    this.#socket.write(Buffer.concat([header, payload, body]));
    return new Promise((resolve, reject) =>
      this.#waiting.set(stream, { answers: [], resolve, reject }),
    );
  }

  /** Stops reading, so that the server has to keep what it sends. */
  pause(): void {
    this.#socket.pause();
  }

  resume(): void {
    this.#socket.resume();
  }

  /**
   * Closes the connection. Who closes it waits for nothing any more: what is open ends without a
   * word.
   */
  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#socket.destroyed) return;
    this.#waiting.clear();
    const closed = once(this.#socket, 'close');
    this.#socket.destroy();
    await closed;
  }

  #onData(bytes: Buffer): void {
    this.#received = Buffer.concat([this.#received, bytes]);
    while (this.#received.length >= HEADER_BYTES) {
      const length = HEADER_BYTES + this.#received.readInt32BE(5);
      if (this.#received.length < length) return;
      this.#onFrame(answerOf(this.#received.subarray(0, length)));
      this.#received = this.#received.subarray(length);
    }
  }

  #onFrame(answer: Answer): void {
    const waiting = this.#waiting.get(answer.stream);
    if (waiting === undefined) {
      this.aside.push(answer);
      return;
    }
    waiting.answers.push(answer);
    if (answer.icg === 1) return;
    this.#waiting.delete(answer.stream);
    waiting.resolve(waiting.answers);
  }

  #end(error: Error): void {
    this.#ended ??= error;
    for (const { reject } of this.#waiting.values()) reject(this.#ended);
    this.#waiting.clear();
  }
}

function parametersOf(ask: Ask): Buffer {
  const { consistency = 'one', values = [], skipMetadata = false, pageSize, pagingState } = ask;
  const flags =
    (values.length > 0 ? 1 : 0) |
    (skipMetadata ? 2 : 0) |
    (pageSize === undefined ? 0 : 4) |
    (pagingState === undefined ? 0 : 8);
  const bytes = new Bytes().short(CONSISTENCIES[consistency]).byte(flags);
  if (values.length > 0) bytes.short(values.length);
  for (const value of values) bytes.bytes(value);
  if (pageSize !== undefined) bytes.int(pageSize);
  if (pagingState !== undefined) bytes.bytes(pagingState);
  return bytes.end();
}

function answerOf(frame: Buffer): Answer {
  const flags = frame.readUInt8(1);
  const opcode = frame.readUInt8(4);
  const reader = new Bytes(Buffer.from(frame.subarray(HEADER_BYTES)));
  const trace = (flags & FRAME_FLAG.tracing) === 0 ? undefined : reader.take(16);
  const warnings = (flags & FRAME_FLAG.warning) === 0 ? [] : reader.readStrings();
  const payload = (flags & FRAME_FLAG.payload) === 0 ? {} : reader.readBytesMap();
  const body = reader.rest();
  const isError = opcode === OPCODE.error;
  const kind = isError
    ? 'error'
    : opcode === OPCODE.result
      ? KINDS[body.readInt32BE(0) as keyof typeof KINDS]
      : undefined;
  return {
    stream: frame.readInt16BE(2),
    opcode,
    bytes: frame.length,
    arrivedAt: performance.now(),
    trace,
    warnings,
    icg: payload['icg']?.readUInt8(0),
    kind,
    ...(kind === 'rows' ? rowsOf(body) : { rows: [], hasMetadata: false, pagingState: undefined }),
    error: isError ? errorOf(body) : undefined,
    body,
  };
}

function errorOf(body: Buffer): Answer['error'] {
  return { code: body.readInt32BE(0), message: new Bytes(body.subarray(4)).readString() };
}

function rowsOf(body: Buffer): Pick<Answer, 'rows' | 'hasMetadata' | 'pagingState'> {
  const reader = new Bytes(body.subarray(4));
  const flags = reader.readInt();
  const columns = reader.readInt();
  const pagingState = (flags & 2) === 0 ? undefined : (reader.readBytes() ?? undefined);
  const hasMetadata = (flags & 4) === 0;
  if (hasMetadata) reader.skipColumns(columns, (flags & 1) !== 0);
  const count = reader.readInt();
  const rows = Array.from({ length: count }, () =>
    Array.from({ length: columns }, () => reader.readBytes()),
  );
  return { rows, hasMetadata, pagingState };
}
