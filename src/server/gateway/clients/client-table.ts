/**
 * Keeps the replies of updates until their client acknowledges them. A resent
 * update gets its reply again. When it has forgotten a client, it reports
 * another name of its memory: then the store decides, or it is unknown.
 */
import { randomUUID } from 'node:crypto';
import type { EncodedMessage } from '../../../protocol/codec/codec.ts';
import type { ServerMessage } from '../../../protocol/messages/server-messages.ts';
import { SequenceMap } from '../../../protocol/sequence-map.ts';
import type { BudgetOwner, ConnectionLoad } from '../limits/in-flight-load.ts';
import { computeUsableTotal, type ByteBudget } from '../limits/limits.ts';

/** Where the rows of a submission go: the client's present connection. */
export interface Outlet {
  /** Whether far too much waits to be sent already. */
  readonly isFull: boolean;
  push(row: ServerMessage): void;
  /** Pushes a row that the client's codec has encoded. */
  pushEncoded(row: EncodedMessage): void;
  /** The last row about the operation was pushed. */
  onEnded(id: number): void;
}

/**
 * An update as it is remembered, for a repetition of it: in flight, or ended.
 */
export interface RepeatableWrite {
  /**
   * Sends the rows to a new connection, beginning with what is known already,
   * in full.
   */
  repeat(outlet: Outlet, load: ConnectionLoad): void;
  /**
   * Forgets the reply, which will not be requested again. Returns the bytes
   * that it retained.
   */
  forget(): number;
}

export interface ClientConnection {
  readonly attempt: number;
  onReplaced(): void;
}

/** What it costs to remember an update, beside its reply. */
export const ENTRY_BYTES = 192;

/**
 * What it costs to remember updates whose numbers are far from each other, for
 * each such stretch of numbers.
 */
const PAGE_BYTES = 384;

/** What it costs to remember a client, beside its name. */
const RECORD_BYTES = 1_024;

/** What a client takes of which nothing else is kept. */
export function measureRecord({ key }: Pick<ClientRecord, 'key'>): number {
  return RECORD_BYTES + key.length;
}

export class ClientTable {
  readonly #budget: ByteBudget;
  readonly #onForgotten: (clients: number) => void;
  readonly #instance = randomUUID();
  /** Names what is remembered of clients that come now. */
  #memory: string;
  readonly #clients = new Map<string, ClientRecord>();
  readonly #principals = new Map<string, RetainedClients>();
  readonly #all = new RetainedClients();
  /**
   * Raised whenever something of a client is forgotten: it then gets another
   * name of the memory.
   */
  #generation = 0;

  constructor(
    budget: ByteBudget,
    onForgotten: (clients: number) => void = () => {},
  ) {
    this.#budget = budget;
    this.#memory = `${this.#instance}.0`;
    this.#onForgotten = onForgotten;
  }

  get size(): number {
    return this.#clients.size;
  }

  /** Updates, in flight or ended, of all clients. */
  get replies(): number {
    let replies = 0;
    for (const record of this.#clients.values()) replies += record.size;
    return replies;
  }

  /** What is kept of them, in bytes. */
  get bytes(): number {
    return this.#all.bytes;
  }

  /**
   * The record of a client, made on its first visit. A principal never sees the
   * operations of another.
   */
  open(principal: string, client: string, subprotocol: string): ClientRecord {
    const owner = encodeURIComponent(principal);
    const key = `${owner}/${client}`;
    let record = this.#clients.get(key);
    if (record === undefined) {
      let retained = this.#principals.get(owner);
      if (retained === undefined)
        this.#principals.set(owner, (retained = new RetainedClients()));
      record = new ClientRecord(
        { key, subprotocol, memory: this.#memory, principal: retained },
        this,
      );
      this.#clients.set(key, record);
      retained.add(record);
      this.#all.add(record);
      this.#makeRoom(retained, 0, this.#budget.principal, record);
      this.#makeRoom(this.#all, 0, this.#budget.total, record);
    }
    return record;
  }

  onConnected(record: ClientRecord, connection: ClientConnection): void {
    record.connection = connection;
    record.isGone = false;
    this.#all.onConnected(record);
    record.principal.onConnected(record);
  }

  /**
   * The client has no connection any more. One of which nothing is kept need
   * not be remembered.
   */
  onDisconnected(record: ClientRecord, nowMs: number): void {
    record.connection = undefined;
    record.goneAt = nowMs;
    if (record.size === 0) return this.#dropRecord(record);
    record.isGone = true;
    this.#all.onDisconnected(record);
    record.principal.onDisconnected(record);
  }

  /**
   * Forgets clients that have been gone since before then. Returns how many.
   */
  forgetGone(before: number): number {
    const forgotten = this.#all.findGoneSince(before);
    for (const record of forgotten) this.#forget(record);
    return forgotten.length;
  }

  /**
   * Returns the owner that would retain too much with `bytes` more. Forgets
   * clients that are gone to make room.
   */
  findFullBudget(record: ClientRecord, bytes: number): BudgetOwner | undefined {
    const retained = record.bytes + bytes;
    if (retained > this.#budget.client) return 'client';
    if (
      !this.#makeRoom(record.principal, bytes, this.#budget.principal, record)
    )
      return 'principal';
    return this.#makeRoom(
      this.#all,
      bytes,
      computeUsableTotal(this.#budget, retained),
      record,
    )
      ? undefined
      : 'total';
  }

  tryReserve(record: ClientRecord, bytes: number): boolean {
    if (record.isForgotten || this.findFullBudget(record, bytes) !== undefined)
      return false;
    this.reserve(record, bytes);
    return true;
  }

  reserve(record: ClientRecord, bytes: number): void {
    if (record.isForgotten) return;
    record.bytes += bytes;
    record.principal.onBytesChanged(record, bytes);
    this.#all.onBytesChanged(record, bytes);
  }

  /**
   * Whether there is room for so many bytes below `max`; forgets clients that
   * are gone, if that makes it.
   */
  #makeRoom(
    retained: RetainedClients,
    bytes: number,
    max: number,
    wantedBy: ClientRecord,
  ): boolean {
    const excess = retained.bytes + bytes - max;
    if (excess <= 0) return true;
    const records = retained.findEvictions(excess, wantedBy);
    for (const record of records) this.#forget(record);
    if (records.length > 0) this.#onForgotten(records.length);
    return records.length > 0;
  }

  #forget(record: ClientRecord): void {
    this.#dropRecord(record);
    this.#memory = `${this.#instance}.${++this.#generation}`;
  }

  #dropRecord(record: ClientRecord): void {
    if (record.isForgotten) return;
    record.isForgotten = true;
    this.#clients.delete(record.key);
    this.#all.delete(record);
    record.principal.delete(record);
    if (record.principal.clients === 0)
      this.#principals.delete(record.key.slice(0, record.key.indexOf('/')));
  }
}

/** What is kept of several clients: of all, or of those of one principal. */
export class RetainedClients {
  clients = 0;
  /** With what it costs to remember them. */
  bytes = 0;
  /**
   * Those without a connection of which something is kept, the one that has
   * been gone for longest first.
   */
  readonly #gone = new Set<ClientRecord>();
  #goneBytes = 0;

  add(record: ClientRecord): void {
    this.clients += 1;
    this.bytes += measureRecord(record);
  }

  delete(record: ClientRecord): void {
    this.onConnected(record);
    this.clients -= 1;
    this.bytes -= record.bytes + measureRecord(record);
  }

  onDisconnected(record: ClientRecord): void {
    this.#gone.add(record);
    this.#goneBytes += record.bytes + measureRecord(record);
  }

  onConnected(record: ClientRecord): void {
    if (this.#gone.delete(record))
      this.#goneBytes -= record.bytes + measureRecord(record);
  }

  /**
   * What is kept of the client has become so much more, or less: its updates
   * may end without it.
   */
  onBytesChanged({ isGone }: ClientRecord, bytes: number): void {
    this.bytes += bytes;
    if (isGone) this.#goneBytes += bytes;
  }

  /**
   * The first ones to forget so that so many bytes become free: none if that is
   * not enough.
   */
  findEvictions(bytes: number, except: ClientRecord): ClientRecord[] {
    const own = except.isGone ? except.bytes + measureRecord(except) : 0;
    if (this.#goneBytes - own < bytes) return [];
    const chosen: ClientRecord[] = [];
    let free = 0;
    for (const record of this.#gone) {
      if (free >= bytes) break;
      if (record === except) continue;
      chosen.push(record);
      free += record.bytes + measureRecord(record);
    }
    return chosen;
  }

  /** Those that have been gone since before then. */
  findGoneSince(before: number): ClientRecord[] {
    const chosen: ClientRecord[] = [];
    for (const record of this.#gone) {
      if (record.goneAt >= before) break;
      chosen.push(record);
    }
    return chosen;
  }
}

/** One client, over all its connections. */
export class ClientRecord {
  readonly #entries = new SequenceMap<RepeatableWrite>();
  readonly #table: ClientTable;
  /** Unique among all clients: principal and client id. */
  readonly key: string;
  /** The codec in which replies are kept. */
  readonly subprotocol: string;
  readonly memory: string;
  readonly principal: RetainedClients;
  connection: ClientConnection | undefined;
  /** Whether it is among those that are gone, and since when. */
  isGone = false;
  goneAt = 0;
  /** What is kept of its updates, in bytes; the table's to change. */
  bytes = 0;
  /**
   * Nothing is kept of it any more; what it had was given back as a whole. The
   * table's to set.
   */
  isForgotten = false;
  /** Up to this number the client has acknowledged all updates. */
  acknowledged = 0;
  /** Those that have been charged. */
  #pages = 0;

  constructor(
    parts: Pick<ClientRecord, 'key' | 'subprotocol' | 'memory' | 'principal'>,
    table: ClientTable,
  ) {
    this.key = parts.key;
    this.subprotocol = parts.subprotocol;
    this.memory = parts.memory;
    this.principal = parts.principal;
    this.#table = table;
  }

  get size(): number {
    return this.#entries.size;
  }

  find(id: number): RepeatableWrite | undefined {
    return this.#entries.get(id);
  }

  record(submission: RepeatableWrite & { readonly id: number }): void {
    const before = this.#entries.get(submission.id);
    if (before === undefined) this.#table.reserve(this, ENTRY_BYTES);
    else this.release(before.forget());
    this.#entries.set(submission.id, submission);
    this.#countPages();
  }

  /** The update has ended, unless another one has taken its place. */
  onEnded(
    update: RepeatableWrite & { readonly id: number },
    as: RepeatableWrite,
  ): void {
    if (this.#entries.get(update.id) === update)
      this.#entries.set(update.id, as);
    else this.release(as.forget());
  }

  acknowledge(upTo: number): void {
    if (upTo <= this.acknowledged) return;
    this.acknowledged = upTo;
    let freed = 0;
    this.#entries.forEach((submission, id) => {
      // Clients number upwards; of one that does not, a few replies stay until
      // the next acknowledgement.
      if (id > upTo) return false;
      this.#entries.delete(id);
      freed += ENTRY_BYTES + submission.forget();
      return true;
    });
    this.release(freed);
    this.#countPages();
  }

  tryReserve(bytes: number): boolean {
    return this.#table.tryReserve(this, bytes);
  }

  reserve(bytes: number): void {
    this.#table.reserve(this, bytes);
  }

  release(bytes: number): void {
    if (bytes > 0) this.#table.reserve(this, -bytes);
  }

  #countPages(): void {
    const { pages } = this.#entries;
    if (pages === this.#pages) return;
    this.#table.reserve(this, (pages - this.#pages) * PAGE_BYTES);
    this.#pages = pages;
  }
}
