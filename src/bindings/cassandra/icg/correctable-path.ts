/**
 * Way 3: one read to a coordinator that gives preliminary replies, two views back (Correctables, OSDI 2016, §5.2; what goes
 * over the wire is in docs/spec/cassandra-icg.md). While the coordinator is away, reads go the plain way.
 */
import type { CassandraDriver } from '../driver.ts';
import type { OpenCorrectablePath, Page, ReadPath, ReadRequest, ReadSink, ReadStatement } from '../read-path.ts';
import type { Connection } from './connection.ts';
import { CqlError } from './cql-error.ts';
import { nodeText, resolvePathOptions, type PathOptions, type Tuning } from './options.ts';
import { PendingRead, type ReadHost } from './pending-read.ts';
import { Pool } from './pool.ts';
import { Statements } from './statements.ts';
import { driverValues, type CqlValues } from './values.ts';

class RefusedSink implements ReadSink {
  readonly #sink: ReadSink;
  readonly #refusal: Error;

  constructor(sink: ReadSink, refusal: Error) {
    this.#sink = sink;
    this.#refusal = refusal;
  }

  final(page: Page): void {
    this.#sink.preliminary(page);
    this.#sink.fail(this.#refusal);
  }

  fail(error: unknown): void {
    this.#sink.preliminaryFailed(error);
    this.#sink.fail(this.#refusal);
  }

  /** One view was asked for: there is none before it. */
  preliminary(): void {}
  preliminaryFailed(): void {}
  confirm(): void {}
}

/** A path to a coordinator that gives preliminary replies. */
export interface CorrectablePath extends ReadPath {
  /** Bytes exchanged with the coordinator so far, heartbeats and handshakes included, without what TLS adds. */
  readonly bytes: { readonly sent: number; readonly received: number };
  /** Cuts all connections as a failing network would: for tests of what happens then. */
  cut(): void;
}

/**
 * How to open such paths. The driver's encoder writes parameters and reads rows; a driver without one cannot be used.
 *
 * @returns rejects with a CqlError where the coordinator cannot be reached or refuses
 */
export function correctablePath(
  driver: CassandraDriver,
  tuning: Tuning = {},
): (...args: Parameters<OpenCorrectablePath>) => Promise<CorrectablePath | undefined> {
  return async (settings) => {
    const values = driverValues(driver);
    if (values === undefined) return undefined;
    const path = new Path(resolvePathOptions(settings, tuning), settings.plain, values);
    try {
      if (await path.opened) return path;
    } catch (error) {
      await path.close();
      throw error;
    }
    await path.close();
    return undefined;
  };
}

class Path implements CorrectablePath, ReadHost {
  readonly statements: Statements;
  readonly values: CqlValues;
  readonly confirmations: boolean;
  /** Resolves with the first connection: whether it is to a coordinator that gives preliminary replies. */
  readonly opened: Promise<boolean>;
  readonly #options: PathOptions;
  readonly #plain: ReadPath;
  readonly #pool: Pool;
  /** The oldest first. */
  readonly #underWay = new Map<PendingRead, number>();
  readonly #waiting = new Set<PendingRead>();
  #timer: NodeJS.Timeout | undefined;
  #closing: Promise<void> | undefined;

  constructor(options: PathOptions, plain: ReadPath, values: CqlValues) {
    this.#options = options;
    this.#plain = plain;
    this.values = values;
    // A read whose PREPARE was lost has time for another.
    this.statements = new Statements(options.requestTimeoutMs / 2);
    this.confirmations = options.confirmations;
    let settle!: { resolve(isUp: boolean): void; reject(reason: CqlError): void };
    this.opened = new Promise((resolve, reject) => (settle = { resolve, reject }));
    this.#pool = new Pool(options, {
      onRoom: () => {
        settle.resolve(this.#pool.isUp);
        this.#sendWaiting();
      },
      onDown: (reason) => {
        if (this.#pool.hasFailed) settle.reject(reason);
        for (const read of this.#waiting) this.#goPlain(read);
      },
    });
  }

  get bytes(): { readonly sent: number; readonly received: number } {
    return { sent: this.#pool.bytesSent, received: this.#pool.bytesReceived };
  }

  read(statement: ReadStatement, request: ReadRequest, sink: ReadSink): void {
    if (this.#closing !== undefined) return sink.fail(closedError());
    if (!this.#pool.isUp || this.#isUncovered(statement, request)) return this.#plain.read(statement, request, sink);
    if (this.#underWay.size >= this.#options.readsMax) return sink.fail(overloadedError(this.#options.readsMax));
    const read = new PendingRead(statement, request, { host: this, sink });
    this.#underWay.set(read, performance.now() + this.#options.requestTimeoutMs);
    if (this.#timer === undefined) this.#watch(this.#options.requestTimeoutMs);
    this.schedule(read);
  }

  schedule(read: PendingRead): void {
    if (this.#closing !== undefined) return read.fail(closedError());
    // Those who wait come first.
    const connection: Connection | undefined = this.#waiting.size === 0 ? this.#pool.take() : undefined;
    if (connection !== undefined) read.start(connection);
    else if (this.#pool.isUp) this.#waiting.add(read);
    else this.#goPlain(read);
  }

  finished(read: PendingRead): void {
    this.#underWay.delete(read);
    this.#waiting.delete(read);
  }

  fetchPreliminary(read: PendingRead, refusal: CqlError): void {
    const { preliminary } = read.rest;
    if (preliminary === undefined) return read.fail(refusal);
    read.handOver();
    const request = { consistency: preliminary, preliminary: undefined };
    this.#plain.read(read.statement, request, new RefusedSink(read.sink, refusal));
  }

  cut(): void {
    this.#pool.cut();
  }

  close(): Promise<void> {
    this.#closing ??= this.#pool.close(closedError());
    clearTimeout(this.#timer);
    for (const read of this.#underWay.keys()) read.fail(closedError());
    return this.#closing;
  }

  #sendWaiting(): void {
    for (const read of this.#waiting) {
      const connection = this.#pool.take();
      if (connection === undefined) return;
      this.#waiting.delete(read);
      read.start(connection);
    }
  }

  /** Whether two requests are needed for two views: a coordinator answers some statements once. */
  #isUncovered(statement: ReadStatement, { preliminary }: ReadRequest): boolean {
    if (preliminary === undefined) return false;
    const prepared = this.statements.known(statement.cql);
    return prepared !== undefined && !prepared.coverage.of(statement).isWorthAsking();
  }

  #goPlain(read: PendingRead): void {
    read.handOver();
    this.#plain.read(read.statement, read.rest, read.sink);
  }

  /** All reads have the same time: one timer for the oldest is enough. */
  #watch(delayMs: number): void {
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      const now = performance.now();
      for (const [read, deadline] of this.#underWay) {
        if (deadline > now) return this.#watch(deadline - now);
        const message = `no final answer within ${this.#options.requestTimeoutMs} ms`;
        read.giveUp(new CqlError('TIMEOUT', message, { node: nodeText(this.#options) }));
      }
    }, delayMs);
    // The connections keep the process alive, not this.
    this.#timer.unref();
  }
}

function closedError(): CqlError {
  return new CqlError('CLOSED', 'the path to the coordinator is closed');
}

function overloadedError(readsMax: number): CqlError {
  return new CqlError('OVERLOADED', `${readsMax} reads are under way or waiting: wait for some of them`);
}
