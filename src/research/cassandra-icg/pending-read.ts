/**
 * One read in flight with two views in order. If a connection is lost, it continues on another one,
 * or through the driver.
 */
import { isCorrectableError } from '../../correctable/errors.ts';
import { CONSISTENCY_CODES } from '../../bindings/cassandra/consistency-levels.ts';
import { setOwnProperty } from '../../bindings/cassandra/cql/plain-values.ts';
import type {
  Page,
  ReadRequest,
  ReadSink,
  ReadStatement,
  Row,
} from '../../bindings/cassandra/read-strategy.ts';
import type { ValueConverter } from '../../bindings/cassandra/value-converter.ts';
import type { Column } from './columns.ts';
import type { Connection, Exchange } from './connection.ts';
import type { PreliminaryAvailability } from './preliminary-availability.ts';
import {
  CqlError,
  isReplicaShortage,
  createProtocolError,
  SERVER_ERROR,
  type ServerError,
} from './cql-error.ts';
import { ICG_KEY, encodeParameters, encodeExecute } from './requests.ts';
import type { RawRows, Response } from './responses.ts';
import type { PreparedStatement, PreparedStatements } from './prepared-statements.ts';

type ResponseContent =
  /** The value of one replica. The final reply follows. */
  | { readonly kind: 'preliminary'; readonly rows: RawRows }
  | { readonly kind: 'confirmed' }
  | { readonly kind: 'final'; readonly rows: RawRows }
  | { readonly kind: 'error'; readonly error: ServerError }
  /** A reply that this request cannot have. */
  | { readonly kind: 'nonsense'; readonly error: CqlError };

const ICG_FLAG = {
  preliminary: 1,
  confirmed: 2,
  differs: 3,
  equals: 4,
} as const;
const NONE = 0;

/** @param hasPreliminary whether a preliminary reply has arrived before */
function interpretResponse(response: Response, hasPreliminary: boolean): ResponseContent {
  const icg = getIcgFlag(response);
  const { kind } = response;
  if (kind === 'error') return { kind, error: response.error };
  if (kind === 'rows') {
    if (icg === ICG_FLAG.preliminary && !hasPreliminary)
      return { kind: 'preliminary', rows: response.rows };
    const isFinal = hasPreliminary
      ? icg === ICG_FLAG.differs || icg === ICG_FLAG.equals
      : icg === NONE;
    if (isFinal) return { kind: 'final', rows: response.rows };
  }
  if (kind === 'void' && icg === ICG_FLAG.confirmed && hasPreliminary) return { kind: 'confirmed' };
  const after = hasPreliminary ? 'after a preliminary view' : 'as the first answer';
  return {
    kind: 'nonsense',
    error: createProtocolError(`"${kind}" with icg ${icg} ${after}`),
  };
}

/** Returns the byte of the entry: 0 if there is none, -1 if it is no byte. */
function getIcgFlag({ payload }: Response): number {
  const entry = payload?.get(ICG_KEY);
  if (entry === undefined) return NONE;
  return entry?.length === 1 ? (entry[0] as number) : -1;
}

const LENGTH_BYTES = 4;

/**
 * Reads the values by the column types in the answer itself. The columns of a prepared statement
 * may have been dropped and created again with other types, and version 4 of the protocol does not
 * report that.
 *
 * @throws CqlError `PROTOCOL` if the reply has no rows
 */
export function readPage({ metadata, rowCount, reader }: RawRows, values: ValueConverter): Page {
  const { columns } = metadata;
  if (columns === undefined)
    throw createProtocolError('rows without their columns, which was not requested');
  reader.checkCount(rowCount, Math.max(1, LENGTH_BYTES * columns.length));
  const rows: Row[] = [];
  for (let n = 0; n < rowCount; n += 1) {
    const row: Record<string, unknown> = {};
    for (const column of columns)
      setOwnProperty(row, column.name, decodeValue(reader.bytes(), column, values));
    rows.push(row);
  }
  return { rows, pageState: metadata.pageState?.toString('hex') };
}

function decodeValue(
  bytes: Buffer | null,
  { name, type }: Column,
  values: ValueConverter,
): unknown {
  try {
    return values.decode(bytes, type);
  } catch (cause) {
    if (isCorrectableError(cause)) throw cause;
    throw createProtocolError(
      `the value of column "${name}" is none of its type: ${String(cause)}`,
      cause,
    );
  }
}

/** How often a statement is prepared again because the node does not know it any more. */
const MAX_REPREPARES = 1;

/** The functions of the path that a read needs. */
export interface ReadContext {
  readonly statements: PreparedStatements;
  readonly values: ValueConverter;
  /** Schedules a read: calls `start` with a connection, at once or when one has capacity. */
  schedule(read: PendingRead): void;
  handleFinished(read: PendingRead): void;
  /** Hands what remains of a read over to the driver. */
  readWithDriver(read: PendingRead): void;
  /**
   * Called when the coordinator refused the read before a preliminary view. Fetches one by other
   * means for the sink.
   */
  fetchPreliminary(read: PendingRead, rejection: CqlError): void;
}

export class PendingRead implements Exchange {
  readonly statement: ReadStatement;
  readonly sink: ReadSink;
  readonly #request: ReadRequest;
  readonly #context: ReadContext;
  #prepared: PreparedStatement | undefined;
  #connection: Connection | undefined;
  #reprepareCount = 0;
  /** The state of the preliminary view over all attempts. There is at most one. */
  #preliminary: 'none' | 'delivered' | 'failed' = 'none';
  #hasPreliminary = false;
  #hasEnded = false;
  #isOrphaned = false;

  constructor(
    statement: ReadStatement,
    request: ReadRequest,
    { context, sink }: { context: ReadContext; sink: ReadSink },
  ) {
    this.statement = statement;
    this.sink = sink;
    this.#request = request;
    this.#context = context;
  }

  /** The request for the views that are still missing. A preliminary view is reported once. */
  get remainingRequest(): ReadRequest {
    return this.#preliminary === 'none'
      ? this.#request
      : { ...this.#request, preliminaryConsistency: undefined };
  }

  /** Sends the read. Prepares its statement before, if necessary. */
  start(connection: Connection): void {
    const prepared = this.#context.statements.getPrepared(this.statement.cql);
    if (prepared === undefined) this.#prepare(connection);
    else this.#execute(connection, prepared);
  }

  handleResponse(response: Response): boolean {
    const meaning = interpretResponse(response, this.#hasPreliminary);
    const isLast = meaning.kind !== 'preliminary';
    if (!isLast) this.#hasPreliminary = true;
    if (response.kind === 'rows' && this.remainingRequest.preliminaryConsistency !== undefined)
      this.#availability?.recordReply(!isLast);
    if (this.#hasEnded) {
      if (isLast && this.#isOrphaned) this.#connection?.reclaim();
      return isLast;
    }
    switch (meaning.kind) {
      case 'preliminary':
        this.#deliverPreliminary(meaning.rows);
        break;
      case 'confirmed':
        this.#confirm();
        break;
      case 'final':
        this.#deliverFinal(meaning.rows);
        break;
      case 'error':
        this.#handleServerError(meaning.error);
        break;
      case 'nonsense':
        throw meaning.error;
    }
    return isLast;
  }

  handleLoss(error: CqlError): void {
    if (this.#hasEnded) return;
    this.#connection = undefined;
    if (error.code === 'CONNECTION_LOST') this.#context.schedule(this);
    else this.fail(error);
  }

  fail(error: Error): void {
    if (this.#finish()) this.sink.fail(error);
  }

  /** Ends the read although its reply is pending. */
  abandon(error: CqlError): void {
    this.#isOrphaned = this.#connection !== undefined;
    this.fail(error);
    this.#connection?.abandon();
  }

  /** Ends the read here. The driver continues it. */
  handOverToDriver(): void {
    this.#finish();
  }

  #prepare(connection: Connection): void {
    this.#connection = undefined;
    this.#context.statements.prepare(connection, this.statement.cql).then(
      (prepared) => {
        if (this.#hasEnded) return;
        if (connection.hasCapacity) this.#execute(connection, prepared);
        else this.#context.schedule(this);
      },
      (error: CqlError) => {
        // The reply was lost. In the remaining time of the read, the statement is prepared again.
        if (error.code === 'TIMEOUT' && !this.#hasEnded) this.#context.schedule(this);
        else this.handleLoss(error);
      },
    );
  }

  #execute(connection: Connection, prepared: PreparedStatement): void {
    const frame = this.#frame(prepared);
    if (frame === undefined) return;
    this.#hasPreliminary = false;
    this.#prepared = prepared;
    this.#connection = connection;
    connection.send(frame, this);
  }

  #frame(prepared: PreparedStatement): Buffer | undefined {
    const { params, pageSize, pageState } = this.statement;
    const { consistency, preliminaryConsistency } = this.remainingRequest;
    try {
      return encodeExecute({
        id: prepared.id,
        consistency: CONSISTENCY_CODES[consistency],
        values: encodeParameters(params, prepared.parameters, this.#context.values),
        isIncremental: preliminaryConsistency !== undefined,
        pageSize,
        pageState: pageState === undefined ? undefined : Buffer.from(pageState, 'hex'),
      });
    } catch {
      // The types may have changed since the statement was prepared. The driver finds out, or
      // reports the value that does not fit.
      this.#context.readWithDriver(this);
      return undefined;
    }
  }

  #deliverPreliminary(rows: RawRows): void {
    let page: Page;
    try {
      page = readPage(rows, this.#context.values);
    } catch (error) {
      this.#preliminary = 'failed';
      return this.sink.failPreliminary(error);
    }
    this.#preliminary = 'delivered';
    this.sink.deliverPreliminary(page);
  }

  #confirm(): void {
    if (this.#preliminary !== 'delivered') {
      return this.fail(new CqlError('PROTOCOL', 'the view that is confirmed could not be read'));
    }
    if (this.#finish()) this.sink.confirm();
  }

  #deliverFinal(rows: RawRows): void {
    let page: Page;
    try {
      page = readPage(rows, this.#context.values);
    } catch (error) {
      return this.fail(error as Error);
    }
    if (this.#finish()) this.sink.deliverFinal(page);
  }

  #handleServerError(server: ServerError): void {
    if (server.code === SERVER_ERROR.unprepared) return this.#reprepare(server);
    const error = new CqlError('SERVER', server.message, {
      node: this.#connection?.node,
      server,
    });
    if (this.remainingRequest.preliminaryConsistency !== undefined && isReplicaShortage(server))
      this.#context.fetchPreliminary(this, error);
    else this.fail(error);
  }

  /** Handles the reply of a node that does not know the statement. */
  #reprepare(server: ServerError): void {
    const connection = this.#connection;
    if (connection !== undefined && this.#reprepareCount < MAX_REPREPARES) {
      this.#reprepareCount += 1;
      return this.#prepare(connection);
    }
    this.fail(
      new CqlError('SERVER', server.message, {
        node: connection?.node,
        server,
      }),
    );
  }

  get #availability(): PreliminaryAvailability | undefined {
    return this.#prepared?.availability.get(this.statement);
  }

  #finish(): boolean {
    if (this.#hasEnded) return false;
    this.#hasEnded = true;
    this.#context.handleFinished(this);
    return true;
  }
}
