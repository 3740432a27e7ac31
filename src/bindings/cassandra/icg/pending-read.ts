/**
 * One read under way: its two views in order, over another connection where one is lost, and over the plain way where
 * there is none.
 */
import { isCorrectableError } from '../../../correctable/errors.ts';
import { CONSISTENCY_CODES } from '../levels.ts';
import { setOwn } from '../cql/reading.ts';
import type { Page, ReadRequest, ReadSink, ReadStatement, Row } from '../read-path.ts';
import type { Values } from '../values.ts';
import type { Column } from './columns.ts';
import type { Connection, Exchange } from './connection.ts';
import type { Coverage } from './coverage.ts';
import { CqlError, isForWantOfReplicas, protocolError, SERVER_ERROR, type ServerError } from './cql-error.ts';
import { ICG_KEY, encodeParameters, executeFrame } from './requests.ts';
import type { RawRows, Response } from './responses.ts';
import type { Statement, Statements } from './statements.ts';

type Meaning =
  /** What one replica has; more is to come. */
  | { readonly kind: 'preliminary'; readonly rows: RawRows }
  /** The final view is the preliminary one. */
  | { readonly kind: 'confirmed' }
  | { readonly kind: 'final'; readonly rows: RawRows }
  | { readonly kind: 'error'; readonly error: ServerError }
  /** An answer that this request cannot have. */
  | { readonly kind: 'nonsense'; readonly error: CqlError };

const ICG = { preliminary: 1, confirmed: 2, differs: 3, equals: 4 } as const;
const NONE = 0;

/** @param hasPreliminary whether one has come before */
function meaningOf(response: Response, hasPreliminary: boolean): Meaning {
  const icg = icgOf(response);
  const { kind } = response;
  if (kind === 'error') return { kind, error: response.error };
  if (kind === 'rows') {
    if (icg === ICG.preliminary && !hasPreliminary) return { kind: 'preliminary', rows: response.rows };
    const isFinal = hasPreliminary ? icg === ICG.differs || icg === ICG.equals : icg === NONE;
    if (isFinal) return { kind: 'final', rows: response.rows };
  }
  if (kind === 'void' && icg === ICG.confirmed && hasPreliminary) return { kind: 'confirmed' };
  const after = hasPreliminary ? 'after a preliminary view' : 'as the first answer';
  return { kind: 'nonsense', error: protocolError(`"${kind}" with icg ${icg} ${after}`) };
}

/** The byte of the entry; 0 where there is none, -1 where it is no byte. */
function icgOf({ payload }: Response): number {
  const entry = payload?.get(ICG_KEY);
  if (entry === undefined) return NONE;
  return entry?.length === 1 ? (entry[0] as number) : -1;
}

const LENGTH_BYTES = 4;

/**
 * Reads the values, as what the answer itself says of its columns: those that a statement was prepared with may have been
 * dropped and made anew as others, and version 4 of the protocol does not tell.
 *
 * @throws CqlError `PROTOCOL` for what are no rows
 */
export function readPage({ metadata, rowCount, reader }: RawRows, values: Values): Page {
  const { columns } = metadata;
  if (columns === undefined) throw protocolError('rows without their columns, which nobody asked to leave out');
  reader.checkCount(rowCount, Math.max(1, LENGTH_BYTES * columns.length));
  const rows: Row[] = [];
  for (let n = 0; n < rowCount; n += 1) {
    const row: Record<string, unknown> = {};
    for (const column of columns) setOwn(row, column.name, decoded(reader.bytes(), column, values));
    rows.push(row);
  }
  return { rows, pageState: metadata.pageState?.toString('hex') };
}

function decoded(bytes: Buffer | null, { name, type }: Column, values: Values): unknown {
  try {
    return values.decode(bytes, type);
  } catch (cause) {
    if (isCorrectableError(cause)) throw cause;
    throw protocolError(`the value of column "${name}" is none of its type: ${String(cause)}`, cause);
  }
}

/** How often its statement is prepared again because the node knows it no more. */
const REPREPARES_MAX = 1;

/** What a read needs of the path that it goes. */
export interface ReadHost {
  readonly statements: Statements;
  readonly values: Values;
  /** Has a read sent: calls `start` with a connection, at once or when one has room. */
  schedule(read: PendingRead): void;
  /** The read is over. */
  finished(read: PendingRead): void;
  /** The coordinator refused the read before it gave a preliminary view: has one fetched, then tells the sink. */
  fetchPreliminary(read: PendingRead, refusal: CqlError): void;
}

export class PendingRead implements Exchange {
  readonly statement: ReadStatement;
  readonly sink: ReadSink;
  readonly #request: ReadRequest;
  readonly #host: ReadHost;
  #prepared: Statement | undefined;
  #connection: Connection | undefined;
  #reprepares = 0;
  /** What became of the preliminary view, whichever attempt it came from: there is one at most. */
  #preliminary: 'none' | 'told' | 'failed' = 'none';
  /** This attempt has had a preliminary answer. */
  #hasPreliminary = false;
  #isOver = false;
  #isOrphan = false;

  constructor(statement: ReadStatement, request: ReadRequest, { host, sink }: { host: ReadHost; sink: ReadSink }) {
    this.statement = statement;
    this.sink = sink;
    this.#request = request;
    this.#host = host;
  }

  /** What is still wanted: a preliminary view is told once. */
  get rest(): ReadRequest {
    return this.#preliminary === 'none' ? this.#request : { ...this.#request, preliminary: undefined };
  }

  /** Sends the read; prepares its statement first where that has not been done. */
  start(connection: Connection): void {
    const prepared = this.#host.statements.known(this.statement.cql);
    if (prepared === undefined) this.#prepare(connection);
    else this.#execute(connection, prepared);
  }

  answer(response: Response): boolean {
    const meaning = meaningOf(response, this.#hasPreliminary);
    const isLast = meaning.kind !== 'preliminary';
    if (!isLast) this.#hasPreliminary = true;
    if (response.kind === 'rows' && this.rest.preliminary !== undefined) this.#coverage?.learn(!isLast);
    if (this.#isOver) {
      if (isLast && this.#isOrphan) this.#connection?.reclaim();
      return isLast;
    }
    switch (meaning.kind) {
      case 'preliminary':
        this.#tellPreliminary(meaning.rows);
        break;
      case 'confirmed':
        this.#confirm();
        break;
      case 'final':
        this.#tellFinal(meaning.rows);
        break;
      case 'error':
        this.#refused(meaning.error);
        break;
      case 'nonsense':
        throw meaning.error;
    }
    return isLast;
  }

  lost(error: CqlError): void {
    if (this.#isOver) return;
    this.#connection = undefined;
    if (error.code === 'CONNECTION_LOST') this.#host.schedule(this);
    else this.fail(error);
  }

  /** Ends the read without a final view. */
  fail(error: Error): void {
    if (this.#finish()) this.sink.fail(error);
  }

  /** Ends the read although its answer is still to come. */
  giveUp(error: CqlError): void {
    this.#isOrphan = this.#connection !== undefined;
    this.fail(error);
    this.#connection?.abandon();
  }

  /** Ends the read here: somebody else goes on with it. */
  handOver(): void {
    this.#finish();
  }

  #prepare(connection: Connection): void {
    this.#connection = undefined;
    this.#host.statements.prepare(connection, this.statement.cql).then(
      (prepared) => {
        if (this.#isOver) return;
        if (connection.hasRoom) this.#execute(connection, prepared);
        else this.#host.schedule(this);
      },
      (error: CqlError) => {
        // The answer was lost on the way: in what is left of the read's own time the statement is asked for again.
        if (error.code === 'TIMEOUT' && !this.#isOver) this.#host.schedule(this);
        else this.lost(error);
      },
    );
  }

  #execute(connection: Connection, prepared: Statement): void {
    const frame = this.#frame(prepared);
    if (frame === undefined) return;
    this.#hasPreliminary = false;
    this.#prepared = prepared;
    this.#connection = connection;
    connection.send(frame, this);
  }

  #frame(prepared: Statement): Buffer | undefined {
    const { params, pageSize, pageState } = this.statement;
    const { consistency, preliminary } = this.rest;
    try {
      return executeFrame({
        id: prepared.id,
        consistency: CONSISTENCY_CODES[consistency],
        values: encodeParameters(params, prepared.parameters, this.#host.values),
        isIncremental: preliminary !== undefined,
        pageSize,
        pageState: pageState === undefined ? undefined : Buffer.from(pageState, 'hex'),
      });
    } catch (error) {
      this.fail(error as Error);
      return undefined;
    }
  }

  #tellPreliminary(rows: RawRows): void {
    let page: Page;
    try {
      page = readPage(rows, this.#host.values);
    } catch (error) {
      this.#preliminary = 'failed';
      return this.sink.preliminaryFailed(error);
    }
    this.#preliminary = 'told';
    this.sink.preliminary(page);
  }

  #confirm(): void {
    if (this.#preliminary !== 'told') {
      return this.fail(new CqlError('PROTOCOL', 'the view that is confirmed could not be read'));
    }
    if (this.#finish()) this.sink.confirm();
  }

  #tellFinal(rows: RawRows): void {
    let page: Page;
    try {
      page = readPage(rows, this.#host.values);
    } catch (error) {
      return this.fail(error as Error);
    }
    if (this.#finish()) this.sink.final(page);
  }

  #refused(server: ServerError): void {
    if (server.code === SERVER_ERROR.unprepared) return this.#prepareAgain(server);
    const error = new CqlError('SERVER', server.message, { node: this.#connection?.node, server });
    if (this.rest.preliminary !== undefined && isForWantOfReplicas(server)) this.#host.fetchPreliminary(this, error);
    else this.fail(error);
  }

  /** The node does not know the statement. */
  #prepareAgain(server: ServerError): void {
    const connection = this.#connection;
    if (connection !== undefined && this.#reprepares < REPREPARES_MAX) {
      this.#reprepares += 1;
      return this.#prepare(connection);
    }
    this.fail(new CqlError('SERVER', server.message, { node: connection?.node, server }));
  }

  get #coverage(): Coverage | undefined {
    return this.#prepared?.coverage.of(this.statement);
  }

  #finish(): boolean {
    if (this.#isOver) return false;
    this.#isOver = true;
    this.#host.finished(this);
    return true;
  }
}
