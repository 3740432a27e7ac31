/** The part of `pg` that is used. It is written here, so that the types do not need the package. */
import { CorrectableError } from '../../correctable/errors.ts';

/** A statement for `client.query`. */
export interface DriverQuery {
  /** The name of a prepared statement. Absent if it is parsed each time. */
  readonly name?: string;
  readonly text: string;
  readonly values?: unknown[];
  readonly types?: {
    getTypeParser(oid: number, format?: never): (text: never) => unknown;
  };
}

export interface DriverResult {
  readonly rows: readonly object[];
  readonly rowCount?: number | null | undefined;
  readonly fields?:
    | readonly {
        readonly name: string;
        readonly dataTypeID: number;
        /** `text` or `binary`. */
        readonly format: string;
      }[]
    | undefined;
}

/** The socket of a connection. */
export interface DriverSocket {
  cork?(): void;
  uncork?(): void;
  destroy?(): void;
  readonly bytesRead?: number | undefined;
  readonly writableLength?: number | undefined;
}

/** A client that a pool has lent. */
export interface DriverClient {
  /** The process of the server that executes its statements. */
  readonly processID?: number | null | undefined;
  /** Its socket, which `pg` corks as well. Without it, each statement is a packet of its own. */
  readonly connection?: {
    readonly stream?: DriverSocket | undefined;
  };
  /** `I`: no transaction is open. `T`: one is open. `E`: one has failed. */
  getTransactionStatus?(): string | null | undefined;
  /** Of a client that is of no pool. */
  connect?(): Promise<unknown>;
  /** Of a client that is of no pool. */
  end?(): Promise<unknown>;
  query(query: DriverQuery): Promise<DriverResult>;
  getTypeParser(oid: number, format?: never): (text: never) => unknown;
  release(isBroken?: boolean | Error): void;
  on(event: 'error', listener: (error: Error) => void): unknown;
  removeListener(event: 'error', listener: (error: Error) => void): unknown;
}

/** `pg.Pool`. */
export interface DriverPool {
  readonly options: {
    readonly pipeline?: boolean | undefined;
    readonly max?: number | undefined;
    readonly connectionTimeoutMillis?: number | undefined;
  };
  /** Makes connections apart from the pool. */
  readonly Client?: (new (options: DriverPool['options']) => DriverClient) | undefined;
  readonly totalCount: number;
  readonly idleCount: number;
  readonly waitingCount: number;
  connect(): Promise<DriverClient>;
  on(event: 'error', listener: (error: Error) => void): unknown;
  on(event: 'connect' | 'remove', listener: (client: DriverClient) => void): unknown;
  removeListener?(event: 'connect' | 'remove', listener: (client: DriverClient) => void): unknown;
  end(): Promise<void>;
}

/** The parts of the module `pg` that the binding needs. */
export interface PostgresDriver {
  readonly Pool: new (config: never) => DriverPool;
}

/**
 * The name is no literal, so that compilers and bundlers do not look for a package that may be
 * absent.
 */
const PACKAGE: string = 'pg';

/**
 * Returns the driver of the options, or the installed one. @throws CorrectableError `UNSUPPORTED`
 * naming the package
 */
export async function loadDriver(
  value: PostgresDriver | undefined,
  load: (name: string) => Promise<unknown> = (name) => import(name),
): Promise<PostgresDriver> {
  if (value !== undefined) return value;
  try {
    const module = (await load(PACKAGE)) as PostgresDriver & {
      readonly default?: PostgresDriver;
    };
    return module.default ?? module;
  } catch (cause) {
    const message = `the PostgreSQL binding needs the package ${PACKAGE} 8.23 or later: npm install ${PACKAGE}, or pass the option driver`;
    throw new CorrectableError('UNSUPPORTED', message, {
      cause,
      field: 'driver',
    });
  }
}
