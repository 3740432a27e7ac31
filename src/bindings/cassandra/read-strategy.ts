/**
 * How reads reach replicas: way 1, two by `cassandra-driver`; way 3, one to a
 * coordinator with preliminary replies.
 */
import type { ServerAddress } from '../shared/server-address.ts';
import type { Consistency } from './consistency-levels.ts';

/**
 * A row by column names. Values are plain, the same whichever way they came.
 * text, ascii, uuid, timeuuid, inet, date, time, duration, decimal → string.
 * int, smallint, tinyint, float, double → number. bigint, counter, varint →
 * bigint. timestamp → Date. blob → Uint8Array. list, set, tuple, vector →
 * array. user-defined type → object. map → object if its keys are strings,
 * otherwise array of [key, value]. null → null.
 */
export type Row = Readonly<Record<string, unknown>>;

/** One page of a result. A result that fits has one page. */
export interface Page {
  readonly rows: readonly Row[];
  /**
   * The position of the next page, in hexadecimal digits; `undefined` on the
   * last one.
   */
  readonly pageState: string | undefined;
}

export interface ReadStatement {
  readonly cql: string;
  /**
   * A value for each bind marker, in the order of the markers. The
   * coordinator's metadata says how each is written.
   */
  readonly params: readonly unknown[];
  /** Most rows of a page. */
  readonly pageSize: number;
  /** Where to go on: `pageState` of the page before. */
  readonly pageState?: string | undefined;
}

export interface ReadRequest {
  /** How many replicas the final view asks. */
  readonly consistency: Consistency;
  /**
   * How many the preliminary view asks (`ONE` or `LOCAL_ONE`); `undefined` if
   * none is wanted.
   */
  readonly preliminaryConsistency: Consistency | undefined;
}

/**
 * Gets at most one preliminary view first, then one of `confirm`,
 * `deliverFinal` and `fail`. No method throws.
 */
export interface ReadSink {
  /**
   * What one replica has. Not called where the path has nothing early to say.
   */
  deliverPreliminary(page: Page): void;
  /** Only the preliminary view failed; the final one is still to come. */
  failPreliminary(error: unknown): void;
  /**
   * The final view is the preliminary one: rows and page state. Only after
   * `preliminary`.
   */
  confirm(): void;
  /** The final view. It may equal the preliminary one all the same. */
  deliverFinal(page: Page): void;
  /**
   * The final view failed. A preliminary view in flight is awaited first, and
   * nothing else.
   */
  fail(error: unknown): void;
}

/**
 * One way to read. Errors are the driver's or the protocol's own; the binding
 * translates them (`failures.ts`).
 */
export interface ReadStrategy {
  /** Never throws: failures go to the sink. Reads of a closed path fail. */
  read(statement: ReadStatement, request: ReadRequest, sink: ReadSink): void;
  /** Ends all connections; reads in flight fail. */
  close(): Promise<void>;
}

export interface ReadStrategyOptions {
  /** The preferred coordinator first. */
  readonly contactPoints: readonly ServerAddress[];
  /** Used for tables that a statement names without one. */
  readonly keyspace: string | undefined;
  readonly credentials:
    | { readonly username: string; readonly password: string }
    | undefined;
  /** Options for `tls.connect`; `undefined` for plain TCP. */
  readonly tls: object | undefined;
  readonly requestTimeoutMs: number;
  /**
   * Two reads through the driver, for what a strategy does not cover. The
   * binding closes it.
   */
  readonly driverReads: ReadStrategy;
}

/**
 * Selects how reads run. `auto`: one request if the coordinator gives
 * preliminary replies, otherwise two. `never`: two requests. `require`: one
 * request; if that is impossible, the binding fails with `UNSUPPORTED`.
 */
export type PreliminaryRepliesOption = 'auto' | 'never' | 'require';
