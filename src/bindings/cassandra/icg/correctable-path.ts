/**
 * Way 3: one read to a coordinator that gives preliminary replies, two views back (Correctables, OSDI 2016, §5.2; what goes
 * over the wire is in docs/spec/cassandra-icg.md). While the coordinator is away, reads go the plain way.
 */
import { formatAddress } from '../../../engine-client/address.ts';
import type { CassandraDriver } from '../driver.ts';
import type { ReadPath, ReadPathSettings, ReadRequest, ReadSink, ReadStatement } from '../read-path.ts';
import { Values } from '../values.ts';
import type { Connection } from './connection.ts';
import { CqlError } from './cql-error.ts';
import { LastingConnection } from './lasting-connection.ts';
import { resolvePathOptions, type Limits, type PathOptions } from './options.ts';
import { PendingRead, type ReadHost } from './pending-read.ts';
import { Statements } from './statements.ts';

/** A path to a coordinator that gives preliminary replies. */
export interface CorrectablePath extends ReadPath {
  /** Bytes exchanged with the coordinator so far, heartbeats and handshakes included, without what TLS adds. */
  readonly bytes: { readonly sent: number; readonly received: number };
}

/**
 * Opens a path to the first contact point; `undefined` if that is an ordinary node. The driver's encoder writes parameters
 * and reads rows: a driver without one cannot be used either. Rejects with a CqlError if the coordinator cannot be reached
 * or refuses.
 */
export async function correctablePath(
  driver: CassandraDriver,
  settings: ReadPathSettings,
  limits: Partial<Limits> = {},
): Promise<CorrectablePath | undefined> {
  if (driver.Encoder === undefined) return undefined;
  const path = new Path(resolvePathOptions(settings, limits), settings.plain, new Values(driver));
  try {
    if (await path.opened) return path;
  } catch (error) {
    await path.close();
    throw error;
  }
  await path.close();
  return undefined;
}

class Path implements CorrectablePath, ReadHost {
  readonly statements: Statements;
  readonly values: Values;
  /** Resolves with the first connection: whether it is to a coordinator that gives preliminary replies. */
  readonly opened: Promise<boolean>;
  readonly #options: PathOptions;
  readonly #plain: ReadPath;
  readonly #node: LastingConnection;
  /** The oldest first. */
  readonly #underWay = new Map<PendingRead, number>();
  readonly #waiting = new Set<PendingRead>();
  #timer: NodeJS.Timeout | undefined;
  #closing: Promise<void> | undefined;

  constructor(options: PathOptions, plain: ReadPath, values: Values) {
    this.#options = options;
    this.#plain = plain;
    this.values = values;
    // A read whose PREPARE was lost has time for another.
    this.statements = new Statements(options.requestTimeoutMs / 2);
    let settle!: { resolve(isUp: boolean): void; reject(reason: CqlError): void };
    this.opened = new Promise((resolve, reject) => (settle = { resolve, reject }));
    this.#node = new LastingConnection(options, {
      onRoom: () => {
        settle.resolve(this.#node.isUp);
        this.#sendWaiting();
      },
      onDown: (reason) => {
        settle.reject(reason);
        for (const read of this.#waiting) this.#goPlain(read);
      },
    });
  }

  get bytes(): { readonly sent: number; readonly received: number } {
    return { ...this.#node.bytes };
  }

  read(statement: ReadStatement, request: ReadRequest, sink: ReadSink): void {
    if (this.#closing !== undefined) return sink.fail(closedError());
    if (!this.#node.isUp || this.#isUncovered(statement, request)) return this.#plain.read(statement, request, sink);
    if (this.#underWay.size >= this.#options.readsMax) return sink.fail(overloadedError(this.#options.readsMax));
    const read = new PendingRead(statement, request, { host: this, sink });
    this.#underWay.set(read, performance.now() + this.#options.requestTimeoutMs);
    if (this.#timer === undefined) this.#watch(this.#options.requestTimeoutMs);
    this.schedule(read);
  }

  schedule(read: PendingRead): void {
    if (this.#closing !== undefined) return read.fail(closedError());
    // Those who wait come first.
    const connection: Connection | undefined = this.#waiting.size === 0 ? this.#node.take() : undefined;
    if (connection !== undefined) read.start(connection);
    else if (this.#node.isUp) this.#waiting.add(read);
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
    const { statement, sink } = read;
    const request = { consistency: preliminary, preliminary: undefined };
    this.#plain.read(statement, request, {
      final(page) {
        sink.preliminary(page);
        sink.fail(refusal);
      },
      fail(error) {
        sink.preliminaryFailed(error);
        sink.fail(refusal);
      },
      // One view was asked for: there is none before it.
      preliminary() {},
      preliminaryFailed() {},
      confirm() {},
    });
  }

  close(): Promise<void> {
    this.#closing ??= this.#node.close(closedError());
    clearTimeout(this.#timer);
    for (const read of this.#underWay.keys()) read.fail(closedError());
    return this.#closing;
  }

  #sendWaiting(): void {
    for (const read of this.#waiting) {
      const connection = this.#node.take();
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
        read.giveUp(new CqlError('TIMEOUT', message, { node: formatAddress(this.#options) }));
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
