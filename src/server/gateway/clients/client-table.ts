/**
 * Keeps the replies of writes until their client acknowledges them, so that a resent write gets its
 * reply again. Each table has a name, its `memoryId`, which changes when the table has forgotten
 * something. A client whose `memoryId` has changed resends its writes as such. Then the store finds
 * out whether a write was executed, or the outcome is unknown.
 */
import { randomUUID } from 'node:crypto';
import type { EncodedMessage } from '../../../protocol/codec/codec.ts';
import type { ServerMessage } from '../../../protocol/messages/server-messages.ts';
import { SequenceMap } from '../../../protocol/sequence-map.ts';
import type { BudgetOwner, ConnectionLoad } from '../limits/in-flight-load.ts';
import { computeUsableTotal, type ByteBudget } from '../limits/limits.ts';

/** Sends the messages of a submission on the client's present connection. */
export interface Outlet {
  /** Whether so many bytes wait to be sent that no more views should be added. */
  readonly isFull: boolean;
  push(message: ServerMessage): void;
  /** Sends a message that the client's codec has encoded. */
  pushEncoded(message: EncodedMessage): void;
  /** Called when the last message about the operation was sent. */
  onEnded(id: number): void;
}

export interface RepeatableOperation {
  /**
   * Sends the messages of the submission on a new connection. The views so far are sent again
   * first, with their values.
   */
  repeat(outlet: Outlet, load: ConnectionLoad): void;
}

/**
 * A write that is remembered so that a resend gets the same reply. It is in flight or has ended.
 */
export interface RepeatableWrite extends RepeatableOperation {
  /** Forgets the reply, which will not be requested again. Returns the bytes that it retained. */
  forget(): number;
}

/**
 * Reserves memory for replies. It counts for one client, for its principal, and for all clients.
 */
export interface ReplyMemory {
  /** Reserves the bytes, unless one of these would exceed its limit. */
  tryReserve(bytes: number): boolean;
  reserve(bytes: number): void;
  release(bytes: number): void;
}

/** The part of a client's record that a submission needs. */
export interface SubmitterRecord extends ReplyMemory {
  readonly key: string;
  readonly acknowledged: number;
  onEnded(update: RepeatableWrite & { readonly id: number }, as: RepeatableWrite): void;
}

export interface ClientConnection {
  readonly attempt: number;
  onReplaced(): void;
}

/** Memory for a remembered write without its reply, in bytes. */
export const ENTRY_BYTES = 192;

/**
 * Memory for each page of the map that holds the writes of a client, in bytes. Writes whose numbers
 * are far apart need several pages.
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
  /** The present `memoryId`, which new connections get. */
  #memory: string;
  readonly #clients = new Map<string, ClientRecord>();
  readonly #principals = new Map<string, RetainedClients>();
  readonly #all = new RetainedClients();
  /**
   * Incremented whenever something of a client is forgotten. New connections then get another
   * `memoryId`.
   */
  #forgottenCount = 0;

  constructor(budget: ByteBudget, onForgotten: (clients: number) => void = () => {}) {
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
   * Returns the record of a client, and creates it on the first visit. Principals have separate
   * records: no principal gets the operations of another.
   */
  open(principal: string, client: string, subprotocol: string): ClientRecord {
    const owner = encodeURIComponent(principal);
    const key = `${owner}/${client}`;
    let record = this.#clients.get(key);
    if (record === undefined) {
      let retained = this.#principals.get(owner);
      if (retained === undefined) this.#principals.set(owner, (retained = new RetainedClients()));
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
   * Called when the client has no connection any more. If none of its writes is kept, its record is
   * dropped.
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
   * Forgets clients that have had no connection since a time before `before`. Returns their number.
   */
  forgetGone(before: number): number {
    const forgotten = this.#all.findGoneSince(before);
    for (const record of forgotten) this.#forget(record);
    return forgotten.length;
  }

  /**
   * Returns the owner whose limit `bytes` more would exceed. To make room, it first forgets
   * disconnected clients.
   */
  findFullBudget(record: ClientRecord, bytes: number): BudgetOwner | undefined {
    const retained = record.bytes + bytes;
    if (retained > this.#budget.client) return 'client';
    if (!this.#makeRoom(record.principal, bytes, this.#budget.principal, record))
      return 'principal';
    return this.#makeRoom(this.#all, bytes, computeUsableTotal(this.#budget, retained), record)
      ? undefined
      : 'total';
  }

  tryReserve(record: ClientRecord, bytes: number): boolean {
    if (record.isForgotten || this.findFullBudget(record, bytes) !== undefined) return false;
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
   * Returns whether there is room for `bytes` below `max`. To make room, it forgets disconnected
   * clients.
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
    this.#memory = `${this.#instance}.${++this.#forgottenCount}`;
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
 * Counts the memory that is kept for several clients: for all of them, or for those of one
 * principal.
 */
export class RetainedClients {
  clients = 0;
  /** In bytes, with the records of the clients. */
  bytes = 0;
  /** Disconnected clients for which writes are kept, in the order of their disconnection. */
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
    if (this.#gone.delete(record)) this.#goneBytes -= record.bytes + measureRecord(record);
  }

  /** The bytes of a disconnected client change too, because its writes may still end. */
  onBytesChanged({ isGone }: ClientRecord, bytes: number): void {
    this.bytes += bytes;
    if (isGone) this.#goneBytes += bytes;
  }

  /**
   * Returns the clients to forget so that `bytes` become free, the clients that were disconnected
   * first. Returns none if that is not enough.
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

  /** Returns the clients that were disconnected before `before`. */
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
  /** Whether the client is disconnected, while some of its writes are kept. */
  isGone = false;
  goneAt = 0;
  /** Memory for its writes, in bytes. The table changes it. */
  bytes = 0;
  /** Whether the table has dropped this record and released its memory. Set by the table. */
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
   * Called when the write has ended. Its reply is dropped if another write has the same number by
   * now.
   */
  onEnded(update: RepeatableWrite & { readonly id: number }, as: RepeatableWrite): void {
    if (this.#entries.get(update.id) === update) this.#entries.set(update.id, as);
    else this.release(as.forget());
  }

  acknowledge(upTo: number): void {
    if (upTo <= this.acknowledged) return;
    this.acknowledged = upTo;
    let freed = 0;
    this.#entries.forEach((submission, id) => {
      // Clients number upwards. If one does not, a few replies stay until the next acknowledgement.
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
