/** One server: runs statements one after another on one connection, in one trip. */
import type { CorrectableError } from '../../../correctable/errors.ts';
import type { Page, Row } from '../../shared/statements/page.ts';

/** One statement, and the values of `$1`, `$2`. */
export interface SqlStatement {
  readonly text: string;
  readonly values: readonly unknown[];
  /**
   * How columns become values. `text`: as PostgreSQL writes them, for the binding's own statements,
   * which select nothing else. `application`: by the parsers of the application, which also other
   * libraries may have set. `raw`: as they were received, for `ParsePage`. Default: `text`
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
 * Runs statements one after another on one connection, as few round trips as possible. Each is a
 * transaction of its own, unless one of them is BEGIN. Rejects with the error of the first that
 * fails, whose `code` or whose cause's `code` is the SQLSTATE.
 */
export type RunStatements = (statements: readonly SqlStatement[]) => Promise<readonly SqlResult[]>;

/** How a call to a server is watched. */
export interface CallOptions {
  /** Cancels a read. Absent for a write, which runs to its end. */
  readonly signal?: AbortSignal | undefined;
  /** Called when statements are about to be sent. May throw. */
  readonly markSent: () => void;
  /** When the caller gives up, in milliseconds since the epoch. */
  readonly deadlineAt?: number | undefined;
}

/** What became of each statement, in their order. */
export type Outcomes = readonly PromiseSettledResult<SqlPage>[];

export interface PostgresServer {
  /** Rejects if there is no connection. Then nothing was sent. */
  run(statements: readonly SqlStatement[], options: CallOptions): Promise<Outcomes>;
  /**
   * Runs several batches on one connection, which is given back after `body`. Absent if the
   * connections belong to another library.
   */
  readonly lend?: <T>(
    options: CallOptions,
    body: (connection: LentConnection) => Promise<T>,
  ) => Promise<T>;
  /** Rejects if the server does not answer on a new connection, or refuses it. */
  probe(): Promise<unknown>;
  /**
   * Gives up all connections that were made until now: they lead to a wrong server. Absent if the
   * connections belong to another library.
   */
  readonly renew?: () => void;
  /** Set by the store: called when no connection can be made, with the reason. */
  onRefused?: (error: CorrectableError) => void;
  close(): Promise<void>;
}

/** A connection that `lend` gives to its body. */
export interface LentConnection {
  readonly run: RunBatch;
  readonly parse: ParsePage;
}

/** Runs statements one after another, in one trip. */
export type RunBatch = (statements: readonly SqlStatement[]) => Promise<Outcomes>;

/** Parses the raw columns of a page, by the parsers of the application. */
export type ParsePage = (page: SqlPage) => Page;

/** A server that another library connects to. */
export class RunnerServer implements PostgresServer {
  readonly #run: RunStatements;

  constructor(run: RunStatements) {
    this.#run = run;
  }

  async run(statements: readonly SqlStatement[], { markSent }: CallOptions): Promise<Outcomes> {
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

  probe(): Promise<unknown> {
    return this.#run([{ text: 'select 1', values: [] }]);
  }

  async close(): Promise<void> {}
}
