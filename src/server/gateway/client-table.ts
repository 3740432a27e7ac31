/**
 * Exactly once, as far as one gateway can see: the replies of every client's updates, kept until the client acknowledges
 * them. An update submitted again after a reconnect gets its recorded reply instead of a second execution. Where the
 * table has forgotten a client it says so, by another name of its memory: then it is up to the store, which is given the
 * same `operationId` again, or nobody can tell.
 */
import { randomUUID } from 'node:crypto';
import { ClientRecord, type ClientConnection, type ReplyBudget } from './client-record.ts';
import type { GatewayLimits } from './limits.ts';

type Bounds = Pick<GatewayLimits, 'repliesBytesMax' | 'repliesBytesTotalMax'>;

/** All clients of a gateway. */
export class ClientTable implements ReplyBudget {
  readonly #bounds: Bounds;
  readonly #onForgotten: (clients: number) => void;
  readonly #instance = randomUUID();
  readonly #clients = new Map<string, ClientRecord>();
  /** Those without a connection, the one that has been gone for longest first. */
  readonly #gone = new Set<ClientRecord>();
  /** Raised whenever something of a client is forgotten: who comes back later is told another name of the memory. */
  #generation = 0;
  #bytes = 0;

  constructor(bounds: Bounds, onForgotten: (clients: number) => void = () => {}) {
    this.#bounds = bounds;
    this.#onForgotten = onForgotten;
  }

  get size(): number {
    return this.#clients.size;
  }

  /** Updates, under way or ended, of all clients. */
  get replies(): number {
    let replies = 0;
    for (const record of this.#clients.values()) replies += record.size;
    return replies;
  }

  /** What is kept of them, in bytes. */
  get bytes(): number {
    return this.#bytes;
  }

  /** The record of a client, made on its first visit. A principal never sees the operations of another. */
  open(principal: string, client: string, subprotocol: string): ClientRecord {
    const key = `${encodeURIComponent(principal)}/${client}`;
    let record = this.#clients.get(key);
    if (record === undefined) {
      record = new ClientRecord({ key, subprotocol, memory: `${this.#instance}.${this.#generation}` }, this);
      this.#clients.set(key, record);
    }
    return record;
  }

  /** The client has a connection from now on. */
  came(record: ClientRecord, connection: ClientConnection): void {
    record.connection = connection;
    this.#gone.delete(record);
  }

  /** The client has no connection any more. One of which nothing is kept need not be remembered. */
  left(record: ClientRecord, nowMs: number): void {
    record.connection = undefined;
    record.goneAt = nowMs;
    if (record.size > 0) this.#gone.add(record);
    else this.#drop(record);
  }

  /** Forgets clients that have been gone since before then. Returns how many. */
  forgetGone(before: number): number {
    let forgotten = 0;
    for (const record of this.#gone) {
      if (record.goneAt >= before) break;
      this.#forget(record);
      forgotten++;
    }
    return forgotten;
  }

  /** Whether a client may have one more update remembered. Forgets those that are gone, to make room. */
  hasRoom(record: ClientRecord, bytes: number): boolean {
    if (record.bytes + bytes > this.#bounds.repliesBytesMax) return false;
    let forgotten = 0;
    for (const gone of this.#gone) {
      if (this.#bytes + bytes <= this.#bounds.repliesBytesTotalMax) break;
      if (gone === record) continue;
      this.#forget(gone);
      forgotten++;
    }
    if (forgotten > 0) this.#onForgotten(forgotten);
    return this.#bytes + bytes <= this.#bounds.repliesBytesTotalMax;
  }

  take(record: ClientRecord, bytes: number): boolean {
    if (this.#clients.get(record.key) !== record || !this.hasRoom(record, bytes)) return false;
    this.charge(record, bytes);
    return true;
  }

  charge(record: ClientRecord, bytes: number): void {
    // What a forgotten client had was given back as a whole.
    if (this.#clients.get(record.key) !== record) return;
    record.bytes += bytes;
    this.#bytes += bytes;
  }

  give(record: ClientRecord, bytes: number): void {
    this.charge(record, -bytes);
  }

  #forget(record: ClientRecord): void {
    this.#drop(record);
    this.#generation++;
  }

  #drop(record: ClientRecord): void {
    this.#gone.delete(record);
    if (this.#clients.delete(record.key)) this.#bytes -= record.bytes;
  }
}
