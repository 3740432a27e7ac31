/**
 * Keeps the replies of writes until their client acknowledges them, so that a
 * resent write gets its reply again. A table that has forgotten a client
 * reports another name of its memory. For a resent write the store then
 * decides, or the outcome is unknown.
 */
import { randomUUID } from 'node:crypto';
import type { EncodedMessage } from '../../../protocol/codec/codec.ts';
import type { ServerMessage } from '../../../protocol/messages/server-messages.ts';
import { SequenceMap } from '../../../protocol/sequence-map.ts';
import type { BudgetOwner, ConnectionLoad } from '../limits/in-flight-load.ts';
import { computeUsableTotal, type ByteBudget } from '../limits/limits.ts';

/** Sends the messages of a submission on the client's present connection. */
export interface Outlet {
  /** Whether far too much waits to be sent already. */
  readonly isFull: boolean;
  push(message: ServerMessage): void;
  /** Sends a message that the client's codec has encoded. */
  pushEncoded(message: EncodedMessage): void;
  /** The last message about the operation was sent. */
  onEnded(id: number): void;
}

export interface RepeatableOperation {
  /**
   * Sends its messages on a new connection, beginning with what is known
   * already, in full.
   */
  repeat(outlet: Outlet, load: ConnectionLoad): void;
}

/** A write that is remembered for a repetition: in flight, or ended. */
export interface RepeatableWrite extends RepeatableOperation {
  /**
   * Forgets the reply, which will not be requested again. Returns the bytes
   * that it retained.
   */
  forget(): number;
}

/** Memory that counts for one client, its principal and all clients. */
export interface ReplyMemory {
  /** Reserves the bytes, unless one of these has too much then. */
  tryReserve(bytes: number): boolean;
  reserve(bytes: number): void;
  release(bytes: number): void;
}

/** What a submission needs of the record of its client. */
export interface SubmitterRecord extends ReplyMemory {
  readonly key: string;
  readonly acknowledged: number;
  onEnded(
    update: RepeatableWrite & { readonly id: number },
    as: RepeatableWrite,
  ): void;
}

export interface ClientConnection {
  readonly attempt: number;
  onReplaced(): void;
}

/** Memory for a remembered write without its reply, in bytes. */
export const ENTRY_BYTES = 192;

/**
 * Memory for each page of the map that holds the writes of a client, in bytes.
 * Writes whose numbers are far apart need several pages.
 */
const PAGE_BYTES = 384;

/** Memory for a remembered client without its name, in bytes. */
const RECORD_BYTES = 1_024;

/** Returns the memory for the record of a client alone, in bytes. */
export function measureRecord({ key }: { readonly key: string }): number {
  return RECORD_BYTES + key.length;
}

export class ClientTable {
  readonly #budget: ByteBudget;
  readonly #onForgotten: (clients: number) => void;
  readonly #instance = randomUUID();
  /** The name of the memory, which clients that come now get. */
  #memory: string;
  readonly #clients = new Map<string, ClientRecord>();
  readonly #principals = new Map<string, RetainedClients>();
  readonly #all = new RetainedClients();
  /**
   * Raised whenever something of a client is forgotten. New clients then get
   * another name of the memory.
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

  /** The number of writes of all clients, in flight or ended. */
  get replies(): number {
    let replies = 0;
    for (const record of this.#clients.values()) replies += record.size;
    return replies;
  }

  /** The memory for all clients, in bytes. */
  get bytes(): number {
    return this.#all.bytes;
  }

  /**
   * Returns the record of a client, and creates it on the first visit.
   * Principals have separate records: no principal gets the operations of
   * another.
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
   * The client has no connection any more. If nothing is kept of it, its record
   * is dropped.
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
   * Forgets clients that have had no connection since before `before`. Returns
   * their number.
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
   * Returns whether there is room for `bytes` below `max`. To make room, it
   * forgets clients that are gone.
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

/**
 * Counts what is kept of several clients: of all, or of those of one principal.
 */
export class RetainedClients {
  clients = 0;
  /** In bytes, with the records of the clients. */
  bytes = 0;
  /**
   * Clients that are gone and of which something is kept. The one that has
   * been gone for longest comes first.
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
   * A client may be gone while its writes end, so its bytes change then too.
   */
  onBytesChanged({ isGone }: ClientRecord, bytes: number): void {
    this.bytes += bytes;
    if (isGone) this.#goneBytes += bytes;
  }

  /**
   * Returns the clients to forget so that `bytes` become free, those gone for
   * longest first. Returns none if that is not enough.
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

  /** Returns the clients that have been gone since before `before`. */
  findGoneSince(before: number): ClientRecord[] {
    const chosen: ClientRecord[] = [];
    for (const record of this.#gone) {
      if (record.goneAt >= before) break;
      chosen.push(record);
    }
    return chosen;
  }
}

interface ClientIdentity {
  readonly key: string;
  readonly subprotocol: string;
  readonly memory: string;
  readonly principal: RetainedClients;
}

/** One client, over all its connections. */
export class ClientRecord implements SubmitterRecord {
  readonly #entries = new SequenceMap<RepeatableWrite>();
  readonly #table: ClientTable;
  /** The principal and the id of the client: unique among all clients. */
  readonly key: string;
  /** The subprotocol whose codec encoded the kept replies. */
  readonly subprotocol: string;
  readonly memory: string;
  readonly principal: RetainedClients;
  connection: ClientConnection | undefined;
  /** Whether the client has no connection but something is kept of it. */
  isGone = false;
  goneAt = 0;
  /** Memory for its writes, in bytes. The table changes it. */
  bytes = 0;
  /**
   * Whether nothing is kept of the client any more, and its memory was
   * released. The table sets it.
   */
  isForgotten = false;
  /** The client has acknowledged all writes up to this number. */
  acknowledged = 0;
  /** How many pages of its slots are counted in `bytes`. */
  #pages = 0;

  constructor(parts: ClientIdentity, table: ClientTable) {
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

  /**
   * The write has ended. Its reply is dropped if another write has its number
   * now.
   */
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
      // Clients number upwards. If one does not, a few replies stay until the
      // next acknowledgement.
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
