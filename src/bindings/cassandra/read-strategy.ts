/**
 * The interface of the two ways to read. The one sends two requests by `cassandra-driver`. The
 * other sends one request to a coordinator with preliminary replies. Its client is in the entry
 * `correctables/research/cassandra-icg`, so that this binding does not load it.
 */
import type { ServerAddress } from '../shared/server-address.ts';
import type { Page } from '../shared/statements/page.ts';
import type { Consistency } from './consistency-levels.ts';
import type { CassandraDriver } from './driver.ts';

export type { Page } from '../shared/statements/page.ts';

/**
 * A row by column names. Values are plain, and the same for each strategy. text, ascii, uuid,
 * timeuuid, inet, date, time, duration, decimal → string. int, smallint, tinyint, float, double →
 * number. bigint, counter, varint → bigint. timestamp → Date. blob → Uint8Array. list, set, tuple,
 * vector → array. user-defined type → object. map → object if its keys are strings, otherwise array
 * of [key, value]. null → null.
 */
export type Row = Readonly<Record<string, unknown>>;

export interface ReadStatement {
  readonly cql: string;
  /**
   * A value for each bind marker, in the order of the markers. The coordinator's metadata has their
   * types.
   */
  readonly params: readonly unknown[];
  /** Maximum number of rows in a page. */
  readonly pageSize: number;
  /** The position to continue at: the `pageState` of the page before. Absent for the first page. */
  readonly pageState?: string | undefined;
}

export interface ReadRequest {
  /** The number of replicas that the final view reads. */
  readonly consistency: Consistency;
  /**
   * The number of replicas that the preliminary view reads (`ONE` or `LOCAL_ONE`). `undefined` if
   * none is requested.
   */
  readonly preliminaryConsistency: Consistency | undefined;
}

/**
 * Receives the results of one read: at most one preliminary view, then exactly one call of
 * `confirm`, `deliverFinal` or `fail`. No method throws.
 */
export interface ReadSink {
  /** Delivers the result of one replica. Not called if there is no preliminary reply. */
  deliverPreliminary(page: Page): void;
  /** Reports that only the preliminary view failed. The final one is still pending. */
  failPreliminary(error: unknown): void;
  /**
   * Delivers a final view that equals the preliminary one in rows and page state. Called only after
   * `deliverPreliminary`.
   */
  confirm(): void;
  /** Delivers the final view. It may equal the preliminary one all the same. */
  deliverFinal(page: Page): void;
  /** Reports that the final view failed. A preliminary view in flight is awaited first. */
  fail(error: unknown): void;
}

/**
 * One way to read. Its errors are those of the driver or the protocol. The binding converts them
 * (`errors.ts`).
 */
export interface ReadStrategy {
  /** Starts a read. Never throws: failures go to the sink. After `close`, reads fail. */
  read(statement: ReadStatement, request: ReadRequest, sink: ReadSink): void;
  /** Ends all connections; reads in flight fail. */
  close(): Promise<void>;
}

export interface ReadStrategyOptions {
  /** The preferred coordinator is first. */
  readonly contactPoints: readonly ServerAddress[];
  /** Used for tables that a statement names without one. */
  readonly keyspace: string | undefined;
  readonly credentials: { readonly username: string; readonly password: string } | undefined;
  /** Options for `tls.connect`; `undefined` for plain TCP. */
  readonly tls: object | undefined;
  readonly requestTimeoutMs: number;
  /**
   * Two reads through the driver, for requests that a strategy does not cover. The binding closes
   * it.
   */
  readonly driverReads: ReadStrategy;
}

/**
 * Reads both views with one request to a coordinator that answers a read twice:
 * `preliminaryReplies()` of `correctables/research/cassandra-icg`.
 */
export interface PreliminaryReplies {
  /** Whether reads fail with `UNSUPPORTED` at an ordinary coordinator. */
  readonly isRequired: boolean;
  /**
   * Opens a connection to the first contact point. Resolves with `undefined` if it is an ordinary
   * coordinator. May reject.
   */
  open(driver: CassandraDriver, options: ReadStrategyOptions): Promise<ReadStrategy | undefined>;
}
