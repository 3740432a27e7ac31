/** One server: runs statements one after another on one connection, in one trip. */
import { createHash } from 'node:crypto';
import { CorrectableError } from '../../correctable/errors.ts';
import type { Page, Row } from '../shared/statements/page.ts';
import type { DriverClient, DriverPool } from './driver.ts';

/** One statement, and the values of `$1`, `$2`. */
export interface SqlStatement {
  readonly text: string;
  readonly values: readonly unknown[];
}

/** The rows of one statement. */
export interface SqlResult {
  readonly rows: readonly Row[];
  /** How many rows were changed or returned. */
  readonly rowCount: number;
}

/**
 * Runs statements one after another on one connection, as few round trips as
 * possible. Each is a transaction of its own, unless one of them is BEGIN.
 * Rejects with the error of the first that fails, whose `code` or whose cause's
 * `code` is the SQLSTATE.
 */
export type RunStatements = (
  statements: readonly SqlStatement[],
) => Promise<readonly SqlResult[]>;

/** How a call to a server is watched. */
export interface CallOptions {
  /** Cancels a read. Absent for a write, which runs to its end. */
  readonly signal?: AbortSignal | undefined;
  /** Called when statements are about to be sent. May throw. */
  readonly markSent: () => void;
}

/** What became of each statement, in their order. */
export type Outcomes = readonly PromiseSettledResult<Page>[];

export interface PostgresServer {
  /** Rejects if there is no connection. Then nothing was sent. */
  run(
    statements: readonly SqlStatement[],
    options: CallOptions,
  ): Promise<Outcomes>;
  /**
   * Runs several batches on one connection, which is given back after `body`.
   * Absent if the connections belong to another library.
   */
  readonly lend?: <T>(
    options: CallOptions,
    body: (run: RunBatch) => Promise<T>,
  ) => Promise<T>;
  close(): Promise<void>;
}

/** Runs statements one after another, in one trip. */
export type RunBatch = (
  statements: readonly SqlStatement[],
) => Promise<Outcomes>;

/** Most reads end by themselves before they are canceled. */
const CANCEL_DELAY_MS = 100;

const INT8 = 20;
const DATE = 1082;

/**
 * Values that `pg` would return as something else: `bigint` as text, and a date
 * as midnight of this machine's time zone.
 */
const PARSERS: Readonly<Record<number, (text: string) => unknown>> = {
  [INT8]: (text) => BigInt(text),
  [DATE]: (text) => text,
};

export interface PoolServerOptions {
  readonly name: string;
  readonly pool: DriverPool;
  /** Whether to prepare statements by name. */
  readonly prepare: boolean;
  /** Whether to end the pool together with the binding. */
  readonly isOwned: boolean;
}

export class PoolServer implements PostgresServer {
  readonly #options: PoolServerOptions;

  constructor(options: PoolServerOptions) {
    this.#options = options;
    const { pool, isOwned } = options;
    // An idle connection that breaks is replaced. Without a listener, the error
    // would end the process.
    if (isOwned) pool.on('error', () => {});
    // A server may end a connection at once. Then the error comes before the
    // pool has given the client to this code.
    pool.on('connect', (client) => void client.on('error', () => {}));
  }

  run(
    statements: readonly SqlStatement[],
    options: CallOptions,
  ): Promise<Outcomes> {
    return this.lend(options, (runBatch) => runBatch(statements));
  }

  async lend<T>(
    { signal, markSent }: CallOptions,
    body: (run: RunBatch) => Promise<T>,
  ): Promise<T> {
    const { pool } = this.#options;
    // An idle connection certainly sends them.
    const isCertain = pool.idleCount > pool.waitingCount;
    if (isCertain) markSent();
    const client = await this.#connect();
    return await useClient(client, async () => {
      const stopCanceling =
        signal === undefined ? undefined : this.#cancelOnAbort(client, signal);
      try {
        if (!isCertain) markSent();
        return await body((statements) =>
          Promise.allSettled(
            sendTogether(client, () =>
              statements.map((statement) => this.#query(client, statement)),
            ),
          ),
        );
      } finally {
        await stopCanceling?.();
      }
    });
  }

  async close(): Promise<void> {
    if (this.#options.isOwned) await this.#options.pool.end();
  }

  async #connect(): Promise<DriverClient> {
    const { pool, name } = this.#options;
    const { max = 10 } = pool.options;
    try {
      return await pool.connect();
    } catch (cause) {
      const isFull = pool.totalCount >= max;
      const reason = isFull
        ? `all ${max} connections are in use`
        : describeCause(cause);
      const message = `postgres: ${name}: no connection: ${reason}. Nothing was sent.`;
      throw new CorrectableError(
        isFull ? 'OVERLOADED' : 'UNAVAILABLE',
        message,
        { cause },
      );
    }
  }

  async #query(
    client: DriverClient,
    { text, values }: SqlStatement,
  ): Promise<Page> {
    const { rows, rowCount } = await client.query({
      text,
      values: [...values],
      types: {
        getTypeParser: (oid, format) =>
          (PARSERS[oid] as ((text: never) => unknown) | undefined) ??
          client.getTypeParser(oid, format),
      },
      ...(this.#options.prepare && { name: createName(text) }),
    });
    return {
      rows: rows as readonly Row[],
      pageState: undefined,
      changedRows: rowCount ?? 0,
    };
  }

  /**
   * Cancels what still runs on a connection when no caller waits for it any
   * more. The connection is given back after that, so that no other statement
   * is hit.
   */
  #cancelOnAbort(
    client: DriverClient,
    signal: AbortSignal,
  ): () => Promise<void> {
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
    try {
      const client = await pool.connect();
      const text = 'select pg_cancel_backend($1)';
      await useClient(client, () =>
        client.query({ text, values: [processID] }),
      );
    } catch {
      // The read ends with its own result.
    }
  }
}

/** A host with several addresses fails with an error without a message. */
function describeCause(cause: unknown): string {
  const { message, code } = Object(cause) as {
    message?: string;
    code?: string;
  };
  return message || code || String(cause);
}

/**
 * Gives a client back to its pool after `body`. A connection that breaks may
 * report several errors, also later. Without a listener, they would end the
 * process.
 */
async function useClient<T>(
  client: DriverClient,
  body: () => Promise<T>,
): Promise<T> {
  let isBroken = false;
  const onError = (): void => void (isBroken = true);
  client.on('error', onError);
  try {
    return await body();
  } finally {
    if (!isBroken) client.removeListener('error', onError);
    client.release(isBroken);
  }
}

/** Lets the statements travel in one packet: most of the work is to send one. */
function sendTogether<T>({ connection }: DriverClient, send: () => T): T {
  const stream = connection?.stream;
  stream?.cork?.();
  try {
    return send();
  } finally {
    stream?.uncork?.();
  }
}

/** A server that another library connects to. */
export class RunnerServer implements PostgresServer {
  readonly #run: RunStatements;

  constructor(run: RunStatements) {
    this.#run = run;
  }

  async run(
    statements: readonly SqlStatement[],
    { markSent }: CallOptions,
  ): Promise<Outcomes> {
    markSent();
    try {
      const results = await this.#run(statements);
      return results.map(({ rows, rowCount }) => ({
        status: 'fulfilled',
        value: { rows, pageState: undefined, changedRows: rowCount },
      }));
    } catch (reason) {
      return statements.map(() => ({ status: 'rejected', reason }));
    }
  }

  async close(): Promise<void> {}
}

const names = new Map<string, string>();

/** Names are short, because PostgreSQL cuts long ones. */
function createName(text: string): string {
  let name = names.get(text);
  if (name === undefined) {
    const hash = createHash('sha256').update(text).digest('base64url');
    name = `correctables_${hash.slice(0, 16)}`;
    names.set(text, name);
  }
  return name;
}
