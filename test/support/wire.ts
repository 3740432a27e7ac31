/**
 * Helpers for tests of the wire: a store that the test controls, a sink that waits, a raw client.
 */
import { WebSocket, type RawData } from 'ws';
import type {
  Binding,
  InvocationContext,
  Sink,
  ViewDetails,
} from '../../src/correctable/binding.ts';
import type { Operation } from '../../src/correctable/operation.ts';
import { PROTOCOL_VERSION } from '../../src/protocol/codec/version.ts';
import { createGatewayWith, type Gateway } from '../../src/server/gateway/gateway.ts';
import type { GatewayOptions } from '../../src/server/gateway/gateway-options.ts';
import type { ByteBudget, InternalLimits } from '../../src/server/gateway/limits/limits.ts';
import { listenGateways, type GatewayListener } from '../../src/server/gateway/listen/listen.ts';

export const LEVELS = ['weak', 'strong'] as const;
export type TestLevels = typeof LEVELS;
export const SUBPROTOCOL_JSON = 'correctables.v1+json';

/** An operation that was submitted to a `StoreDouble`. */
export interface Submitted {
  readonly operation: Operation;
  readonly levels: readonly string[];
  readonly sink: Sink;
  readonly context: InvocationContext;
}

/** A binding whose replies the test sends. */
export class StoreDouble implements Binding<TestLevels> {
  readonly name = 'double';
  /** Whether it declares that it executes a write once, however often it is submitted. */
  isExactlyOnce = false;
  readonly submitted: Submitted[] = [];
  /** If set, replies to each operation at once. */
  answer: ((submitted: Submitted) => void) | undefined;
  #waiting: ((submitted: Submitted) => void)[] = [];
  #taken = 0;

  consistencyLevels(): TestLevels {
    return LEVELS;
  }

  supports(operation: Operation): boolean {
    return operation.name !== 'unknown';
  }

  submitOperation<T>(
    operation: Operation<T>,
    levels: readonly string[],
    sink: Sink<T>,
    context: InvocationContext,
  ): void {
    const submitted: Submitted = { operation, levels, sink: sink as Sink, context };
    this.submitted.push(submitted);
    this.answer?.(submitted);
    const waiting = this.#waiting.shift();
    if (waiting === undefined) return;
    this.#taken++;
    waiting(submitted);
  }

  /** Returns the next operation that no call of `next` has returned. */
  next(): Promise<Submitted> {
    const submitted = this.submitted[this.#taken];
    if (submitted !== undefined) {
      this.#taken++;
      return Promise.resolve(submitted);
    }
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  close(): Promise<void> {
    return Promise.resolve();
  }
}

/** One call of a sink. */
export type SinkCall =
  | {
      readonly kind: 'write';
      readonly value: unknown;
      readonly level: string;
      readonly details: ViewDetails | undefined;
    }
  | {
      readonly kind: 'confirm';
      readonly level: string;
      readonly seq: number;
      readonly details: ViewDetails | undefined;
    }
  | { readonly kind: 'fail'; readonly error: unknown; readonly level: string | undefined };

/** Records what a binding reports for an operation. */
export class SinkDouble implements Sink {
  readonly calls: SinkCall[] = [];
  #seq = 0;
  #waiting: (() => void)[] = [];

  view(value: unknown, level: string, details?: ViewDetails): number {
    this.#add({ kind: 'write', value, level, details });
    return this.#seq++;
  }

  confirm(level: string, seq: number, details?: ViewDetails): void {
    this.#add({ kind: 'confirm', level, seq, details });
  }

  fail(error: unknown, level?: string): void {
    this.#add({ kind: 'fail', error, level });
  }

  /** Waits for the call number `index`, counted from 0, and returns it. */
  async call(index: number): Promise<SinkCall> {
    while (this.calls.length <= index)
      await new Promise<void>((resolve) => this.#waiting.push(resolve));
    return this.calls[index] as SinkCall;
  }

  /** Returns the error of the call number `index`, which must be a failure. */
  async failure(
    index: number,
  ): Promise<{ code?: string; message?: string; field?: string; retryable?: boolean }> {
    const call = await this.call(index);
    if (call.kind !== 'fail') throw new Error(`expected a failure, got ${call.kind}`);
    return call.error as { code?: string };
  }

  #add(call: SinkCall): void {
    this.calls.push(call);
    for (const resolve of this.#waiting.splice(0)) resolve();
  }
}

/** The context of a submission that is never cancelled. */
export function quietContext(overrides: Partial<InvocationContext> = {}): InvocationContext {
  return {
    signal: new AbortController().signal,
    deadlineAt: undefined,
    session: undefined,
    trace: undefined,
    ...overrides,
  };
}

export const readX: Operation = { name: 'get', args: { key: 'x' }, access: 'read' };
export const writeX: Operation = { name: 'put', args: { key: 'x', value: 1 }, access: 'write' };

/** A gateway for one store, on a port of its own. */
export interface RunningGateway extends AsyncDisposable {
  readonly store: StoreDouble;
  readonly gateway: Gateway;
  readonly listener: GatewayListener;
  readonly url: string;
}

/** Options of a gateway, and bounds that no option sets. */
export type BoundedOptions = Partial<GatewayOptions> & {
  readonly bounds?: Partial<InternalLimits> | undefined;
};

/** To be bounded in one way at a time. */
export const BOUNDLESS: ByteBudget = {
  client: Infinity,
  principal: Infinity,
  total: Infinity,
  share: 0,
};

/** Starts a gateway; `port` to come back where an earlier one was. */
export async function startGateway(
  options: BoundedOptions & { store?: StoreDouble; port?: number } = {},
): Promise<RunningGateway> {
  const { store = new StoreDouble(), port, bounds = {}, ...rest } = options;
  const gateway = createGatewayWith(bounds, { binding: store, ...rest });
  const listener = await listenGateways({ sites: { here: gateway }, port, logger: options.logger });
  return {
    store,
    gateway,
    listener,
    url: listener.siteUrl('here'),
    [Symbol.asyncDispose]: () => listener.close({ drainMs: 0 }),
  };
}

/** A client that speaks the protocol by hand. */
export class RawClient implements AsyncDisposable {
  readonly socket: WebSocket;
  readonly frames: string[] = [];
  readonly closed: Promise<{ code: number; reason: string }>;
  #rows: unknown[][] = [];
  #waiting: (() => void)[] = [];
  #over = false;

  constructor(
    url: string,
    options: { origin?: string; subprotocol?: string; host?: string; autoPong?: boolean } = {},
  ) {
    const { origin, subprotocol = SUBPROTOCOL_JSON, host, autoPong = true } = options;
    this.socket = new WebSocket(url, [subprotocol], {
      autoPong,
      ...(origin !== undefined && { origin }),
      ...(host !== undefined && { headers: { host } }),
    });
    this.socket.on('message', (data: RawData) => this.#receive(String(data)));
    this.closed = new Promise((resolve) => {
      this.socket.on('close', (code, reason) => {
        this.#over = true;
        this.#wake();
        resolve({ code, reason: reason.toString() });
      });
    });
  }

  /**
   * Fulfilled when the socket is open; rejected with the HTTP status when the server refuses it.
   */
  opened(): Promise<void> {
    return new Promise((resolve, reject) => {
      this.socket.once('open', () => resolve());
      this.socket.once('unexpected-response', (_, response) => {
        reject(new Error(`HTTP ${response.statusCode}`));
        response.destroy();
        this.socket.terminate();
      });
      this.socket.on('error', reject);
    });
  }

  send(...rows: unknown[]): void {
    this.sendText(JSON.stringify(rows));
  }

  sendText(text: string): void {
    this.socket.send(text);
  }

  /** Sends hello and waits for the welcome. */
  async greet(overrides: object = {}): Promise<unknown[]> {
    await this.opened();
    this.send([0, 'hello', { ...RawClient.hello(), ...overrides }]);
    return this.row();
  }

  /** Creates a client that has received the welcome. */
  static async greeted(url: string, overrides: object = {}): Promise<RawClient> {
    const client = new RawClient(url);
    await client.greet(overrides);
    return client;
  }

  static hello(): object {
    return { version: PROTOCOL_VERSION, client: 'a'.repeat(32), attempt: 1, levels: LEVELS };
  }

  /** Returns the next row from the server. Announcements are skipped. */
  async row(): Promise<unknown[]> {
    for (;;) {
      const row = this.#rows.shift();
      if (row?.[1] === 'incoming') continue;
      if (row !== undefined) return row;
      if (this.#over) throw new Error('the connection is closed');
      await new Promise<void>((resolve) => this.#waiting.push(resolve));
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.socket.terminate();
    await this.closed;
  }

  #receive(frame: string): void {
    this.frames.push(frame);
    this.#rows.push(...(JSON.parse(frame) as unknown[][]));
    this.#wake();
  }

  #wake(): void {
    for (const resolve of this.#waiting.splice(0)) resolve();
  }
}
