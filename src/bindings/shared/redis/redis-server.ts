/**
 * Connections to one Redis or Valkey. There is one at a time, and it is replaced as soon as it is
 * known to be dead or to lead to a wrong server.
 *
 * `ioredis` repairs connections by itself, and sends commands again on the next one. Here it must
 * not: a command would be executed after it was reported as failed, and a reply such as READONLY
 * would prove nothing. It also waits for a silent server for ever. So each connection is a client
 * of its own, that never reconnects.
 */
import { systemClock, type Clock, type Timer } from '../../../correctable/clock.ts';
import { isCorrectableError } from '../../../correctable/errors.ts';
import { formatAddress, type ServerAddress } from '../server-address.ts';
import type { RedisClient, RedisDriver } from './redis-driver.ts';
import { ConnectionLostError, isServerReply, NoConnectionError } from './redis-errors.ts';
import { getErrorMessage } from '../../../values/error-message.ts';

export interface RedisServerOptions {
  readonly address: ServerAddress;
  /** Options of `ioredis`, such as `password` and `tls`. They are read for each new connection. */
  readonly redisOptions: object;
  readonly loadDriver: () => Promise<RedisDriver>;
  /**
   * A connection is abandoned if commands wait for a reply, and none arrives for this time.
   * Default: 2 000
   */
  readonly maxSilenceMs?: number;
  /**
   * Examines a new connection before its first use. If it rejects, there is no connection. Default:
   * each is accepted
   */
  readonly examine?: (client: RedisClient) => Promise<unknown>;
  /** Called when a connection cannot be opened, with the cause. */
  readonly onRefused?: (error: NoConnectionError) => void;
  readonly clock?: Clock;
}

const DEFAULT_SILENCE_MS = 2_000;
const CONNECT_TIMEOUT_MS = 2_000;
/** After this time without a reply, an idle connection is probed. */
const PROBE_AFTER_MS = 5_000;
const FIRST_PAUSE_MS = 50;
const MAX_PAUSE_MS = 1_000;
const CLOSED = 'it is closed';

interface Failure {
  readonly error: NoConnectionError;
  readonly pauseMs: number;
  readonly triesAgainAtMs: number;
}

export class RedisServer {
  readonly address: ServerAddress;
  readonly #options: RedisServerOptions;
  readonly #clock: Clock;
  #connection: Connection | undefined;
  #opening: Promise<RedisClient> | undefined;
  readonly #attempts = new Set<(reason: Error) => void>();
  #failure: Failure | undefined;
  #isClosed = false;

  constructor(options: RedisServerOptions) {
    this.address = options.address;
    this.#options = options;
    this.#clock = options.clock ?? systemClock;
  }

  /** The connection, if there is one now. */
  get ready(): RedisClient | undefined {
    const client = this.#connection?.client;
    if (client?.status !== 'ready') return undefined;
    // `ioredis` notices a little later that its socket has ended.
    return client.stream?.writable === false ? undefined : client;
  }

  /**
   * Returns the connection, or opens one. After a failure, calls fail with its cause for a pause
   * that doubles up to a second.
   *
   * @throws NoConnectionError
   * @throws CorrectableError `UNSUPPORTED` if the package is missing
   */
  async connect(): Promise<RedisClient> {
    if (this.ready !== undefined) return this.ready;
    const failure = this.#failure;
    if (failure !== undefined && this.#clock.now() < failure.triesAgainAtMs) throw failure.error;
    this.#opening ??= this.#open().finally(() => (this.#opening = undefined));
    return await this.#opening;
  }

  /**
   * Waits for the reply to commands that were sent. Rejects with `ConnectionLostError` if the
   * server stays silent. The connection is then abandoned.
   */
  watch<T>(client: RedisClient, reply: Promise<T>): Promise<T> {
    const connection = this.#connection;
    return connection?.client === client ? connection.watch(reply) : reply;
  }

  /**
   * Opens a connection of its own, looking the name up again, and closes it. Rejects if the server
   * cannot be used.
   */
  async probe(): Promise<void> {
    const client = await this.#connectOnce();
    client.disconnect();
    this.#failure = undefined;
  }

  /** Gives a connection up, so that the next call opens another one. */
  giveUp(client: RedisClient, reason: unknown): void {
    if (this.#connection?.client !== client) return;
    this.#connection.end(reason);
    this.#connection = undefined;
  }

  close(): void {
    this.#isClosed = true;
    this.#connection?.end(CLOSED);
    this.#connection = undefined;
    for (const abort of this.#attempts) abort(new Error(CLOSED));
  }

  async #open(): Promise<RedisClient> {
    this.#connection?.end('it was closed');
    this.#connection = undefined;
    try {
      const client = await this.#connectOnce();
      this.#failure = undefined;
      this.#connection = new Connection(client, {
        clock: this.#clock,
        maxSilenceMs: this.#options.maxSilenceMs ?? DEFAULT_SILENCE_MS,
        onSilence: (reason) => this.giveUp(client, reason),
      });
      return client;
    } catch (cause) {
      // The package is missing: a later attempt would fail as well.
      if (isCorrectableError(cause)) throw cause;
      throw this.#noteFailure(cause);
    }
  }

  async #connectOnce(): Promise<RedisClient> {
    const { loadDriver, redisOptions, examine } = this.#options;
    const { Redis } = await loadDriver();
    const client = new Redis({
      ...redisOptions,
      ...this.address,
      lazyConnect: true,
      connectTimeout: CONNECT_TIMEOUT_MS,
      retryStrategy: () => null,
      reconnectOnError: null,
      enableOfflineQueue: false,
      autoResendUnfulfilledCommands: false,
      enableAutoPipelining: false,
      maxRetriesPerRequest: 0,
      // A server that is full replies so and closes. A second packet of the handshake would fail
      // before that reply is read.
      disableClientInfo: true,
      // A server that loads its data replies so to each command.
      enableReadyCheck: false,
    });
    // The error of the socket or of the server is the cause. The promise of `connect` rejects with
    // "connection is closed" only.
    let problem: unknown;
    client.on('error', (error) => (problem ??= error));
    try {
      await this.#within(CONNECT_TIMEOUT_MS, async () => {
        await client.connect();
        await checkAnswer(client);
        await examine?.(client);
      });
      if (this.#isClosed) throw new Error(CLOSED);
    } catch (error) {
      client.disconnect();
      throw problem ?? error;
    }
    return client;
  }

  /** A server may accept connections and never answer. */
  async #within(limitMs: number, run: () => Promise<void>): Promise<void> {
    let timer: Timer | undefined;
    let abort: (reason: Error) => void = () => {};
    const late = new Promise<never>((_, reject) => {
      abort = reject;
      const message = `it did not answer within ${limitMs} ms`;
      timer = this.#clock.setTimer(() => reject(new Error(message)), limitMs);
    });
    this.#attempts.add(abort);
    const running = run();
    running.catch(() => {}); // It may fail after the limit.
    try {
      await Promise.race([running, late]);
    } finally {
      timer?.cancel();
      this.#attempts.delete(abort);
    }
  }

  #noteFailure(cause: unknown): NoConnectionError {
    const before = this.#failure?.pauseMs;
    const pauseMs = before === undefined ? FIRST_PAUSE_MS : Math.min(MAX_PAUSE_MS, 2 * before);
    const error = new NoConnectionError(formatAddress(this.address), cause);
    const triesAgainAtMs = this.#clock.now() + pauseMs;
    this.#failure = { error, pauseMs, triesAgainAtMs };
    if (!this.#isClosed) this.#options.onRefused?.(error);
    return error;
  }
}

/** Refusals of `PING` by a server that executes other commands, as reads. */
const ANSWERS = /^(NOPERM|MISCONF|BUSY|ERR unknown command)\b/;

/**
 * Rejects if the server gives no answer: the kernel accepts connections of a server that is frozen,
 * and the handshake may need no reply.
 */
async function checkAnswer(client: RedisClient): Promise<void> {
  try {
    await client.call('PING');
  } catch (error) {
    if (!isServerReply(error) || !ANSWERS.test(error.message)) throw error;
  }
}

interface ConnectionOptions {
  readonly clock: Clock;
  readonly maxSilenceMs: number;
  readonly onSilence: (reason: string) => void;
}

/** One connection, and how long it has been silent. */
class Connection {
  readonly client: RedisClient;
  readonly #options: ConnectionOptions;
  readonly #pending = new Set<(error: unknown) => void>();
  #heardAtMs: number;
  #timer: Timer | undefined;
  #timerAtMs = Infinity;
  #isOver = false;
  /** The silence that began at this time is long enough to look at it. */
  #suspectedAtMs = -1;
  #progress = { bytesRead: 0, writableLength: 0 };

  constructor(client: RedisClient, options: ConnectionOptions) {
    this.client = client;
    this.#options = options;
    this.#heardAtMs = options.clock.now();
    this.#plan();
  }

  watch<T>(reply: Promise<T>): Promise<T> {
    if (this.#pending.size === 0) this.#heardAtMs = this.#options.clock.now();
    return new Promise<T>((resolve, reject) => {
      this.#pending.add(reject);
      const end = (): void => {
        this.#pending.delete(reject);
        this.#heardAtMs = this.#options.clock.now();
      };
      reply.then(
        (value) => (end(), resolve(value)),
        (error: unknown) => (end(), reject(error as Error)),
      );
      this.#plan();
    });
  }

  end(reason: unknown): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#timer?.cancel();
    this.client.disconnect();
    const text = getErrorMessage(reason);
    const error = new ConnectionLostError(`the connection was abandoned: ${text}`);
    for (const reject of this.#pending) reject(error);
    this.#pending.clear();
  }

  /** When the connection is looked at next. */
  get #dueAtMs(): number {
    if (this.#pending.size === 0) return this.#heardAtMs + PROBE_AFTER_MS;
    const { maxSilenceMs } = this.#options;
    const isSuspected = this.#suspectedAtMs === this.#heardAtMs;
    return this.#heardAtMs + (isSuspected ? maxSilenceMs : maxSilenceMs / 2);
  }

  #plan(): void {
    if (this.#isOver || this.#timerAtMs <= this.#dueAtMs) return;
    this.#timer?.cancel();
    this.#timerAtMs = this.#dueAtMs;
    this.#setTimer(this.#timerAtMs - this.#options.clock.now(), () => {
      this.#timerAtMs = Infinity;
      this.#check();
    });
  }

  #setTimer(delayMs: number, run: () => void): void {
    this.#timer = this.#options.clock.setTimer(run, Math.max(1, delayMs));
    this.#timer.setRef?.(false);
  }

  #check(): void {
    if (this.#options.clock.now() < this.#dueAtMs) return this.#plan();
    if (this.#pending.size === 0) return this.#probe();
    if (this.#suspectedAtMs !== this.#heardAtMs) {
      this.#suspectedAtMs = this.#heardAtMs;
      this.#progress = this.#getProgress();
      return this.#plan();
    }
    // Look again after the sockets were read: after a stall of this process, a reply may have
    // arrived that was not read yet.
    this.#timerAtMs = -Infinity;
    return this.#setTimer(1, () => {
      this.#timerAtMs = Infinity;
      this.#judge();
    });
  }

  #probe(): void {
    if (this.client.status !== 'ready') return;
    this.watch(this.client.call('PING')).catch(() => {});
  }

  #judge(): void {
    const { clock, maxSilenceMs, onSilence } = this.#options;
    const { bytesRead, writableLength } = this.#getProgress();
    const hasProgressed =
      bytesRead > this.#progress.bytesRead || writableLength < this.#progress.writableLength;
    // A large reply or command takes time on a slow link.
    if (hasProgressed) this.#heardAtMs = clock.now();
    if (this.#pending.size === 0 || clock.now() < this.#dueAtMs) return this.#plan();
    return onSilence(`no reply came within ${maxSilenceMs} ms`);
  }

  #getProgress(): { bytesRead: number; writableLength: number } {
    const { bytesRead = 0, writableLength = 0 } = this.client.stream ?? {};
    return { bytesRead, writableLength };
  }
}
