/**
 * The part of `cassandra-driver` that the binding uses. The types are declared here, so that a
 * program can compile without the package.
 */
import { CorrectableError } from '../../correctable/errors.ts';

/** Options of `Client.execute`. */
export interface DriverQueryOptions {
  readonly prepare?: boolean;
  readonly consistency?: number;
  readonly isIdempotent?: boolean;
  readonly fetchSize?: number;
  readonly pageState?: string;
  readonly autoPage?: boolean;
  readonly timestamp?: number;
  readonly readTimeout?: number;
  /** The node of this execution: an object of the driver. */
  readonly host?: never;
  /** Settings of this execution, such as its policies: an object of the driver. */
  readonly executionProfile?: never;
  /** Decides which failures of this execution are retried: a policy of the driver's own class. */
  readonly retry?: never;
}

/** What the driver passes on to its policies. */
export interface DriverExecutionOptions {
  getRetryPolicy?(): object;
}

/** The result of `Client.execute`. Writes have no rows. */
export interface DriverResult {
  readonly rows?: readonly object[] | undefined;
  /** The columns of the rows, if the driver reports them. */
  readonly columns?: readonly DriverColumn[] | null | undefined;
  readonly pageState?: string | null | undefined;
}

/** A column or a marker, as the driver describes it. */
export interface DriverColumn {
  readonly name: string;
  readonly type: { readonly code: number; readonly info?: unknown };
}

/** The driver's memory of prepared statements. Its types do not have this. */
export interface DriverStatements {
  getPreparedInfo?(keyspace: string | undefined, cql: string): DriverStatement | undefined;
}

interface DriverStatement {
  readonly meta?: { readonly columns?: readonly DriverColumn[] } | undefined;
}

export interface DriverClient {
  readonly keyspace?: string | undefined;
  /**
   * The driver's prepared statements, a `DriverStatements`. If absent, the driver itself chooses
   * how to encode values.
   */
  readonly metadata?: object | undefined;
  connect(): Promise<void>;
  execute(cql: string, params?: unknown[], options?: DriverQueryOptions): Promise<DriverResult>;
  shutdown(): Promise<void>;
  on?(event: 'hostRemove', listener: (host: DriverHost) => void): unknown;
}

export interface DriverHost {
  /** `address:port`. */
  readonly address: string;
  /** Returns an open connection, or `null` if there is none. */
  getActiveConnection?(): object | null;
  /** Closes a connection, and opens another one instead. */
  removeFromPool?(connection: object): void;
  shutdown?(): Promise<void>;
}

export interface DriverHosts {
  values(): DriverHost[];
}

/**
 * Converts values of the driver to bytes and back. `type` is as in the metadata of the protocol.
 */
export interface DriverEncoder {
  encode(value: unknown, type: object): unknown;
  decode(bytes: Uint8Array | null, type: object): unknown;
}

type AbstractClass<T> = abstract new (...args: never[]) => T;

/** The parts of the module `cassandra-driver` that the binding needs. */
export interface CassandraDriver {
  readonly Client: new (options: never) => DriverClient;
  readonly ExecutionProfile: new (name: string, options: never) => object;
  readonly policies: {
    readonly loadBalancing: {
      readonly LoadBalancingPolicy: AbstractClass<object>;
    };
    readonly retry: { readonly RetryPolicy: new () => object };
    readonly reconnection: {
      readonly ExponentialReconnectionPolicy: new (
        baseDelay: number,
        maxDelay: number,
        startWithNoDelay: boolean,
      ) => object;
    };
    readonly addressResolution: {
      readonly EC2MultiRegionTranslator: new () => object;
    };
    readonly speculativeExecution: {
      readonly NoSpeculativeExecutionPolicy: new () => object;
    };
  };
  /** Encodes and decodes values. Without it, the binding can only use the driver as a whole. */
  readonly Encoder?: new (protocolVersion: number, options: object) => DriverEncoder;
  readonly types: {
    /** The encoder's mark for a value that a write leaves unchanged. */
    readonly unset?: object;
    readonly BigDecimal: AbstractClass<object> & {
      toBuffer(value: object): Buffer;
    };
    /** The driver's types lack its `months`, `days` and `nanoseconds`. */
    readonly Duration: AbstractClass<object>;
    readonly InetAddress: AbstractClass<object>;
    readonly Integer: AbstractClass<object> & {
      toBuffer(value: object): Buffer;
    };
    readonly LocalDate: AbstractClass<object>;
    readonly LocalTime: AbstractClass<object>;
    readonly Long: AbstractClass<object>;
    readonly Tuple: AbstractClass<{ readonly elements: unknown[] }>;
    readonly Uuid: AbstractClass<object>;
    readonly Vector?: AbstractClass<{ readonly elements: unknown[] }>;
  };
}

/**
 * The type is `string`, not a literal, so that compilers and bundlers do not look for a package
 * that may be absent.
 */
const PACKAGE: string = 'cassandra-driver';

/**
 * Returns the driver of the options, or the installed one. @throws CorrectableError `UNSUPPORTED`
 * naming the package.
 */
export async function loadDriver(
  value: CassandraDriver | undefined,
  load: (name: string) => Promise<unknown> = (name) => import(name),
): Promise<CassandraDriver> {
  if (value !== undefined) return value;
  try {
    const module = (await load(PACKAGE)) as CassandraDriver & {
      readonly default?: CassandraDriver;
    };
    return module.default ?? module;
  } catch (cause) {
    const message = `the Cassandra binding needs the package ${PACKAGE}: npm install ${PACKAGE}, or pass the option driver`;
    throw new CorrectableError('UNSUPPORTED', message, {
      cause,
      field: 'driver',
    });
  }
}
