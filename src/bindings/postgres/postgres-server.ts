/** One server: runs statements one after another on one connection, in one trip. */
import { createHash } from 'node:crypto';
import { CorrectableError } from '../../correctable/errors.ts';
import type { Page, Row } from '../shared/statements/page.ts';
import type { DriverClient, DriverPool } from './driver.ts';

/** One statement, and the values of `$1`, `$2`. */
export interface SqlStatement {
  readonly text: string;
  readonly values: readonly unknown[];
  /**
   * How columns become values. `text`: as PostgreSQL writes them, for the
   * binding's own statements, which select nothing else. `application`: by the
   * parsers of the application, which also other libraries may have set. `raw`:
   * as they were received, for `ParsePage`. Default: `text`
   */
  readonly columns?: 'text' | 'application' | 'raw' | undefined;
}

/** The rows of one statement, with what the parsers of columns need. */
export interface SqlPage extends Page {
  readonly columnTypes?: readonly ColumnType[] | undefined;
}

/** The name, the type and the format of a column. */
export type ColumnType = readonly [name: string, oid: number, format: string];

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
export type Outcomes = readonly PromiseSettledResult<SqlPage>[];

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
    body: (connection: LentConnection) => Promise<T>,
  ) => Promise<T>;
  close(): Promise<void>;
}

/** A connection that `lend` gives to its body. */
export interface LentConnection {
  readonly run: RunBatch;
  readonly parse: ParsePage;
}

/** Runs statements one after another, in one trip. */
export type RunBatch = (
  statements: readonly SqlStatement[],
) => Promise<Outcomes>;

/** Parses the raw columns of a page, by the parsers of the application. */
export type ParsePage = (page: SqlPage) => Page;

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

type Parser = (value: never) => unknown;

/** Both formats of a text have the same bytes. */
const OWN_PARSERS: Readonly<Record<'text' | 'raw', Parser>> = {
  text: String,
  raw: (value) => value,
};

function getApplicationParser(
  client: DriverClient,
  oid: number,
  format?: never,
): Parser {
  const parser = PARSERS[oid] as Parser | undefined;
  return parser ?? client.getTypeParser(oid, format);
}

function parsePage(
  client: DriverClient,
  { rows, changedRows, columnTypes = [] }: SqlPage,
): Page {
  const parsers = columnTypes.map(
    ([name, oid, format]) =>
      [name, getApplicationParser(client, oid, format as never)] as const,
  );
  const parseRow = (row: Row): Row =>
    Object.fromEntries(
      parsers.map(([name, parser]) => {
        const value = row[name];
        return [name, value === null ? null : parser(value as never)];
      }),
    );
  return { rows: rows.map(parseRow), pageState: undefined, changedRows };
}

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
    return this.lend(options, ({ run }) => run(statements));
  }

  async lend<T>(
    { signal, markSent }: CallOptions,
    body: (connection: LentConnection) => Promise<T>,
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
        return await body({
          run: (statements) =>
            Promise.allSettled(
              sendTogether(client, () =>
                statements.map((statement) => this.#query(client, statement)),
              ),
            ),
          parse: (page) => parsePage(client, page),
        });
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
    { text, values, columns = 'text' }: SqlStatement,
  ): Promise<SqlPage> {
    const { rows, rowCount, fields } = await client.query({
      text,
      values: [...values],
      types: {
        getTypeParser: (oid, format) =>
          columns === 'application'
            ? getApplicationParser(client, oid, format)
            : OWN_PARSERS[columns],
      },
      ...(this.#options.prepare && { name: createName(text) }),
    });
    return {
      rows: rows as readonly Row[],
      pageState: undefined,
      changedRows: rowCount ?? 0,
      ...(columns === 'raw' && {
        columnTypes: fields?.map(({ name, dataTypeID, format }): ColumnType => [
          name,
          dataTypeID,
          format,
        ]),
      }),
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
 *
 * A connection with an open transaction is closed, which rolls that back.
 * Otherwise the writes of others would become part of it, and be lost with it.
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
    client.release(isBroken || isInTransaction(client));
  }
}

/** Returns whether a transaction is certainly open, or has failed. */
function isInTransaction(client: DriverClient): boolean {
  const status = client.getTransactionStatus?.();
  return status === 'T' || status === 'E';
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
