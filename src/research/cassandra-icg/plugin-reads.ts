/**
 * Way 3: one read with two views (Correctables, OSDI 2016, §5.2; docs/spec/cassandra-icg.md). If
 * there is no such coordinator, reads use way 1.
 */
import { formatAddress } from '../../bindings/shared/server-address.ts';
import type { CassandraDriver } from '../../bindings/cassandra/driver.ts';
import type {
  ReadStrategy,
  ReadStrategyOptions,
  ReadRequest,
  ReadSink,
  ReadStatement,
} from '../../bindings/cassandra/read-strategy.ts';
import { ValueConverter } from '../../bindings/cassandra/value-converter.ts';
import { ReconnectingConnection, type Connection } from './connection.ts';
import { CqlError } from './cql-error.ts';
import { resolvePluginOptions, type PluginLimits, type PluginOptions } from './options.ts';
import { PendingRead, type ReadContext } from './pending-read.ts';
import { PreparedStatements } from './prepared-statements.ts';

/** A path to a coordinator with preliminary replies. */
export interface PluginReadStrategy extends ReadStrategy {
  /**
   * Bytes exchanged with the coordinator so far. They include heartbeats and handshakes, but not
   * the overhead of TLS.
   */
  readonly bytes: { readonly sent: number; readonly received: number };
}

/**
 * Opens a path to the first contact point. Returns `undefined` for an ordinary node, or for a
 * driver without an encoder.
 */
export async function openPluginReads(
  driver: CassandraDriver,
  settings: ReadStrategyOptions,
  limits: Partial<PluginLimits> = {},
): Promise<PluginReadStrategy | undefined> {
  if (driver.Encoder === undefined) return undefined;
  const path = new PluginReads(
    resolvePluginOptions(settings, limits),
    settings.driverReads,
    new ValueConverter(driver),
  );
  try {
    if (await path.whenOpened) return path;
  } catch (error) {
    await path.close();
    throw error;
  }
  await path.close();
  return undefined;
}

class PluginReads implements PluginReadStrategy, ReadContext {
  readonly statements: PreparedStatements;
  readonly values: ValueConverter;
  /** Resolves at the first connection with whether its coordinator has preliminary replies. */
  readonly whenOpened: Promise<boolean>;
  readonly #options: PluginOptions;
  readonly #driverReads: ReadStrategy;
  readonly #nodeConnection: ReconnectingConnection;
  /** In the order of their start. */
  readonly #inFlight = new Map<PendingRead, number>();
  readonly #waiting = new Set<PendingRead>();
  #timer: NodeJS.Timeout | undefined;
  #closing: Promise<void> | undefined;

  constructor(options: PluginOptions, plain: ReadStrategy, values: ValueConverter) {
    this.#options = options;
    this.#driverReads = plain;
    this.values = values;
    // A read whose PREPARE was lost has time for another one.
    this.statements = new PreparedStatements(options.requestTimeoutMs / 2);
    let settle!: {
      resolve(isUp: boolean): void;
      reject(reason: CqlError): void;
    };
    this.whenOpened = new Promise((resolve, reject) => (settle = { resolve, reject }));
    this.#nodeConnection = new ReconnectingConnection(options, {
      onCapacity: () => {
        settle.resolve(this.#nodeConnection.isUp);
        this.#sendWaiting();
      },
      onDown: (reason) => {
        settle.reject(reason);
        for (const read of this.#waiting) this.readWithDriver(read);
      },
    });
  }

  get bytes(): { readonly sent: number; readonly received: number } {
    return { ...this.#nodeConnection.bytes };
  }

  read(statement: ReadStatement, request: ReadRequest, sink: ReadSink): void {
    if (this.#closing !== undefined) return sink.fail(createClosedError());
    if (!this.#nodeConnection.isUp || this.#isNotWorthRequesting(statement, request))
      return this.#driverReads.read(statement, request, sink);
    const { maxReads } = this.#options;
    if (this.#inFlight.size >= maxReads) {
      const message = `${maxReads} reads are in flight or waiting: wait for some of them`;
      return sink.fail(new CqlError('OVERLOADED', message));
    }
    const read = new PendingRead(statement, request, { context: this, sink });
    this.#inFlight.set(read, performance.now() + this.#options.requestTimeoutMs);
    if (this.#timer === undefined) this.#startTimeoutTimer(this.#options.requestTimeoutMs);
    this.schedule(read);
  }

  schedule(read: PendingRead): void {
    if (this.#closing !== undefined) return read.fail(createClosedError());
    // Waiting reads come first.
    const connection: Connection | undefined =
      this.#waiting.size === 0 ? this.#nodeConnection.getReady() : undefined;
    if (connection !== undefined) read.start(connection);
    else if (this.#nodeConnection.isUp) this.#waiting.add(read);
    else this.readWithDriver(read);
  }

  handleFinished(read: PendingRead): void {
    this.#inFlight.delete(read);
    this.#waiting.delete(read);
  }

  readWithDriver(read: PendingRead): void {
    read.handOverToDriver();
    this.#driverReads.read(read.statement, read.remainingRequest, read.sink);
  }

  fetchPreliminary(read: PendingRead, rejection: CqlError): void {
    const { preliminaryConsistency } = read.remainingRequest;
    if (preliminaryConsistency === undefined) return read.fail(rejection);
    read.handOverToDriver();
    const { statement, sink } = read;
    const request = {
      consistency: preliminaryConsistency,
      preliminaryConsistency: undefined,
    };
    this.#driverReads.read(statement, request, {
      deliverFinal(page) {
        sink.deliverPreliminary(page);
        sink.fail(rejection);
      },
      fail(error) {
        sink.failPreliminary(error);
        sink.fail(rejection);
      },
      // Only one view was requested, so there is no preliminary one.
      deliverPreliminary() {},
      failPreliminary() {},
      confirm() {},
    });
  }

  close(): Promise<void> {
    this.#closing ??= this.#nodeConnection.close(createClosedError());
    clearTimeout(this.#timer);
    for (const read of this.#inFlight.keys()) read.fail(createClosedError());
    return this.#closing;
  }

  #sendWaiting(): void {
    for (const read of this.#waiting) {
      const connection = this.#nodeConnection.getReady();
      if (connection === undefined) return;
      this.#waiting.delete(read);
      read.start(connection);
    }
  }

  /**
   * Returns whether two views need two requests, because the coordinator answers some statements
   * only once.
   */
  #isNotWorthRequesting(
    statement: ReadStatement,
    { preliminaryConsistency }: ReadRequest,
  ): boolean {
    if (preliminaryConsistency === undefined) return false;
    const prepared = this.statements.getPrepared(statement.cql);
    return prepared !== undefined && !prepared.availability.get(statement).isWorthRequesting();
  }

  /** Sets one timer for the oldest read. All reads have the same timeout. */
  #startTimeoutTimer(delayMs: number): void {
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      const now = performance.now();
      for (const [read, deadline] of this.#inFlight) {
        if (deadline > now) return this.#startTimeoutTimer(deadline - now);
        const message = `no final answer within ${this.#options.requestTimeoutMs} ms`;
        read.abandon(
          new CqlError('TIMEOUT', message, {
            node: formatAddress(this.#options),
          }),
        );
      }
    }, delayMs);
    // The connections keep the process alive, so the timer need not.
    this.#timer.unref();
  }
}

function createClosedError(): CqlError {
  return new CqlError('CLOSED', 'the path to the coordinator is closed');
}
