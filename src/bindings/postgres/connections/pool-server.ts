/** A server whose connections are those of a pool of `pg`. */
import { CorrectableError } from '../../../correctable/errors.ts';
import { ConnectionTrust } from '../../shared/connections/connection-trust.ts';
import { SharedProbe } from '../../shared/connections/shared-probe.ts';
import { limitTime } from '../../shared/connections/time-limit.ts';
import { parsePage } from './column-parsers.ts';
import { createConnectError, createFullPoolError } from './connect-error.ts';
import type { DriverClient, DriverPool } from '../driver.ts';
import { LentClient, StaleStatementError } from './lent-client.ts';
import type {
  CallOptions,
  LentConnection,
  Outcomes,
  PostgresServer,
  SqlStatement,
} from './server.ts';
import { askActivity, type ServerActivity } from './server-activity.ts';

/** A server that does not accept connections must not hold reads for long. */
export const CONNECT_TIMEOUT_MS = 5_000;
/** Most reads end by themselves before they are canceled. */
const CANCEL_DELAY_MS = 100;
/** An answer that the server has sent is read in this time. */
const TRAVEL_MS = 250;
/** How long a closing pool may say goodbye to a server that is gone. */
const CLOSE_TIMEOUT_MS = 1_000;

/** The error of a pool whose connections are all in use. */
const WAIT_TIMEOUT = /^timeout exceeded when trying to connect/;

export interface PoolServerOptions {
  readonly name: string;
  readonly pool: DriverPool;
  /** Whether to prepare statements by name. */
  readonly prepare: boolean;
  /** Whether to end the pool together with the binding. */
  readonly isOwned: boolean;
}

export class PoolServer implements PostgresServer {
  onRefused: (error: CorrectableError) => void = () => {};
  readonly #options: PoolServerOptions;
  readonly #trust = new ConnectionTrust<DriverClient>();
  readonly #probe: SharedProbe<ServerActivity>;
  /** Why the server did not answer, as long as it has not answered since. */
  #unreachable: unknown;
  /** Whether the binding was closed, and not its pool. */
  #hasLeft = false;
  readonly #ignoreError = (): void => {};
  readonly #onConnect = (client: DriverClient): void => {
    // A server may end a connection at once. Then the error comes before the pool has given the
    // client to this code.
    client.on('error', this.#ignoreError);
    this.#trust.noteOpened(client);
    this.#unreachable = undefined;
  };
  readonly #onRemove = (client: DriverClient): void => this.#trust.noteClosed(client);

  constructor(options: PoolServerOptions) {
    this.#options = options;
    const { pool, isOwned } = options;
    this.#probe = new SharedProbe((ended) => askActivity(pool, ended));
    // An idle connection that breaks is replaced. Without a listener, the error would end the
    // process.
    if (isOwned) pool.on('error', () => {});
    pool.on('connect', this.#onConnect);
    pool.on('remove', this.#onRemove);
  }

  run(statements: readonly SqlStatement[], options: CallOptions): Promise<Outcomes> {
    return this.lend(options, ({ run }) => run(statements));
  }

  async lend<T>(
    options: CallOptions,
    body: (connection: LentConnection) => Promise<T>,
  ): Promise<T> {
    // All connections that are there may have lost their statements.
    const { max = 10 } = this.#options.pool.options;
    for (let repeats = max; repeats > 0; repeats -= 1) {
      try {
        return await this.#lendOnce(options, body, true);
      } catch (error) {
        if (!(error instanceof StaleStatementError)) throw error;
      }
    }
    return await this.#lendOnce(options, body, false);
  }

  async probe(): Promise<void> {
    const { refusal } = await this.#ask();
    if (refusal !== undefined) throw this.#refuse(refusal);
  }

  renew(): void {
    this.#trust.renew();
  }

  async close(): Promise<void> {
    const { pool, isOwned } = this.#options;
    if (!isOwned) return this.#leavePool();
    const ending = pool.end();
    // Sockets to a server that is gone would keep the process running.
    const timer = setTimeout(() => {
      for (const { connection } of this.#trust.open) connection?.stream?.destroy?.();
    }, CLOSE_TIMEOUT_MS);
    timer.unref();
    await ending;
  }

  /** The pool of an application lives on, maybe with other bindings. */
  #leavePool(): void {
    const { pool } = this.#options;
    this.#hasLeft = true;
    pool.removeListener?.('connect', this.#onConnect);
    pool.removeListener?.('remove', this.#onRemove);
    for (const client of this.#trust.open) client.removeListener('error', this.#ignoreError);
  }

  async #lendOnce<T>(
    { signal, markSent, deadlineAt }: CallOptions,
    body: (connection: LentConnection) => Promise<T>,
    isRepeatable: boolean,
  ): Promise<T> {
    const { pool, prepare } = this.#options;
    // An idle connection certainly sends them.
    const isCertain = pool.idleCount > pool.waitingCount && !this.#trust.hasUntrusted;
    if (isCertain) markSent();
    const client = await this.#connect();
    const lent = new LentClient({
      client,
      prepare,
      deadlineAt,
      mayStillAnswer: () => this.#mayStillAnswer(client),
      onLost: () => this.#trust.renew(),
    });
    const stopCanceling = signal && this.#cancelOnAbort(client, signal);
    try {
      if (!isCertain) markSent();
      return await body({
        run: (statements) => lent.run(statements, isRepeatable),
        parse: (page) => parsePage(client, page),
      });
    } finally {
      await stopCanceling?.();
      lent.release(this.#trust.isTrusted(client));
    }
  }

  /** Returns a connection that was made since the last renewal. */
  async #connect(): Promise<DriverClient> {
    for (;;) {
      const client = await this.#connectAny();
      // Connections that are made after the end are not noted.
      if (this.#hasLeft || this.#trust.isTrusted(client)) return client;
      client.connection?.stream?.destroy?.();
      client.release(true);
    }
  }

  async #connectAny(): Promise<DriverClient> {
    const { pool, name } = this.#options;
    const { max = 10 } = pool.options;
    try {
      return await this.#connectInTime();
    } catch (cause) {
      const isFull = pool.totalCount >= max && WAIT_TIMEOUT.test(String(Object(cause).message));
      if (isFull && this.#unreachable === undefined) throw createFullPoolError(name, max, cause);
      throw this.#refuse(isFull ? this.#unreachable : cause);
    }
  }

  #refuse(cause: unknown): CorrectableError {
    const error = createConnectError(this.#options.name, cause);
    this.onRefused(error);
    return error;
  }

  /** A pool of the application may wait for ever. */
  async #connectInTime(): Promise<DriverClient> {
    const { pool } = this.#options;
    const connecting = pool.connect();
    if (pool.options.connectionTimeoutMillis) return await connecting;
    let isLate = false;
    const createError = (): Error => {
      isLate = true;
      return new Error('timeout exceeded when trying to connect');
    };
    connecting.then(
      (client) => isLate && client.release(),
      () => {},
    );
    return await limitTime(connecting, CONNECT_TIMEOUT_MS, createError);
  }

  async #ask(): Promise<ServerActivity> {
    try {
      const activity = await this.#probe.run();
      this.#unreachable = undefined;
      return activity;
    } catch (error) {
      this.#unreachable = error;
      throw error;
    }
  }

  async #mayStillAnswer(client: DriverClient): Promise<boolean> {
    const activity = await this.#ask();
    if (activity.isIdle(client) !== true) return true;
    await new Promise((resolve) => setTimeout(resolve, TRAVEL_MS));
    return false;
  }

  /**
   * Cancels what still runs on a connection when no caller waits for it any more. The connection is
   * given back after that, so that no other statement is hit.
   */
  #cancelOnAbort(client: DriverClient, signal: AbortSignal): () => Promise<void> {
    let timer: ReturnType<typeof setTimeout> | undefined;
    let canceling: Promise<void> | undefined;
    const cancel = (): void => {
      canceling = this.#cancel(client);
    };
    const onAbort = (): void => {
      timer = setTimeout(cancel, CANCEL_DELAY_MS);
    };
    signal.addEventListener('abort', onAbort, { once: true });
    if (signal.aborted) onAbort();
    return async () => {
      signal.removeEventListener('abort', onAbort);
      clearTimeout(timer);
      await canceling;
    };
  }

  /** If the statement cannot be canceled, it ends by itself. */
  async #cancel({ processID }: DriverClient): Promise<void> {
    const { pool } = this.#options;
    const { max = 10 } = pool.options;
    const canConnect = pool.idleCount > 0 || pool.totalCount < max;
    if (!canConnect || typeof processID !== 'number') return;
    const text = 'select pg_cancel_backend($1)';
    try {
      await this.run([{ text, values: [processID] }], { markSent: () => {} });
    } catch (error) {
      // The read ends with its own result.
      if (!(error instanceof CorrectableError)) throw error;
    }
  }
}
