/**
 * Exactly once, as far as one gateway can see: the replies of every client's updates, kept until the client acknowledges
 * them. An update submitted again after a reconnect gets its recorded reply instead of a second execution. Where the
 * table has forgotten a client it says so, by another name of its memory: then it is up to the store, which is given the
 * same `operationId` again, or nobody can tell.
 */
import { randomUUID } from 'node:crypto';
import { ClientRecord, costOf, type ClientConnection, type ReplyBudget } from './client-record.ts';
import { GoneClients, toFree } from './gone-clients.ts';
import { KeptOfPrincipal } from './kept-of-principal.ts';
import type { GatewayLimits } from '../limits/limits.ts';

type ReplyLimit = 'repliesBytesMax' | 'repliesBytesPerPrincipalMax' | 'repliesBytesTotalMax';
type Bounds = Pick<GatewayLimits, ReplyLimit | 'connectionsMax'>;

/** Which part of all is set aside, so that each client has a share whatever the others keep. */
const SHARED_OUT = 1 / 4;
/** The least share. */
const SHARE_BYTES_MIN = 4_096;

/** All clients of a gateway. */
export class ClientTable implements ReplyBudget {
  readonly #bounds: Bounds;
  readonly #shareBytes: number;
  readonly #onForgotten: (clients: number) => void;
  readonly #instance = randomUUID();
  /** Names what is remembered of clients that come now. */
  #memory: string;
  readonly #clients = new Map<string, ClientRecord>();
  /** Of which something is kept. */
  readonly #principals = new Map<string, KeptOfPrincipal<ClientRecord>>();
  readonly #gone: GoneClients;
  /** Raised whenever something of a client is forgotten: who comes back later is told another name of the memory. */
  #generation = 0;
  #bytes = 0;

  constructor(bounds: Bounds, onForgotten: (clients: number) => void = () => {}) {
    this.#bounds = bounds;
    const { repliesBytesTotalMax, connectionsMax } = bounds;
    this.#shareBytes = Math.max(SHARE_BYTES_MIN, (repliesBytesTotalMax * SHARED_OUT) / connectionsMax);
    this.#gone = new GoneClients(repliesBytesTotalMax);
    this.#memory = `${this.#instance}.0`;
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
      const kept = this.#keptOf(principal);
      record = new ClientRecord({ key, subprotocol, memory: this.#memory, principal: kept }, this);
      this.#clients.set(key, record);
      kept.clients += 1;
      kept.bytes += costOf(record);
      this.#bytes += costOf(record);
      this.#makeRoomOfPrincipal(0, record);
      this.#makeRoom(0, this.#bounds.repliesBytesTotalMax, record);
    }
    return record;
  }

  /** The client has a connection from now on. */
  came(record: ClientRecord, connection: ClientConnection): void {
    record.connection = connection;
    this.#gone.delete(record);
    record.principal.gone.delete(record);
  }

  /** The client has no connection any more. One of which nothing is kept need not be remembered. */
  left(record: ClientRecord, nowMs: number): void {
    record.connection = undefined;
    record.goneAt = nowMs;
    if (record.size === 0) return this.#drop(record);
    this.#gone.add(record);
    record.principal.gone.add(record);
  }

  /** Forgets clients that have been gone since before then. Returns how many. */
  forgetGone(before: number): number {
    const forgotten = this.#gone.since(before);
    for (const record of forgotten) this.#forget(record);
    return forgotten.length;
  }

  /**
   * The limit beyond which it would be to keep so much more of a client; none where there is room. A part of all is for
   * those of whom no more than their share is kept: who takes much can lock nobody out. Forgets clients that are gone,
   * where that makes room enough: of the principal first, where it is the one that has too much.
   */
  fullBy(record: ClientRecord, bytes: number): ReplyLimit | undefined {
    const kept = record.bytes + bytes;
    const { repliesBytesMax, repliesBytesTotalMax: total } = this.#bounds;
    if (kept > repliesBytesMax) return 'repliesBytesMax';
    if (!this.#makeRoomOfPrincipal(bytes, record)) return 'repliesBytesPerPrincipalMax';
    const max = kept <= this.#shareBytes ? total : total * (1 - SHARED_OUT);
    return this.#makeRoom(bytes, max, record) ? undefined : 'repliesBytesTotalMax';
  }

  take(record: ClientRecord, bytes: number): boolean {
    if (record.isForgotten || this.fullBy(record, bytes) !== undefined) return false;
    this.charge(record, bytes);
    return true;
  }

  charge(record: ClientRecord, bytes: number): void {
    if (record.isForgotten) return;
    record.bytes += bytes;
    record.principal.bytes += bytes;
    this.#bytes += bytes;
    this.#gone.changed(record, bytes);
  }

  give(record: ClientRecord, bytes: number): void {
    this.charge(record, -bytes);
  }

  /** Whether there is room for so many bytes below `max`; clients that are gone are forgotten, if that makes it. */
  #makeRoom(bytes: number, max: number, wantedBy: ClientRecord): boolean {
    const excess = this.#bytes + bytes - max;
    return excess <= 0 || this.#forgetAll(this.#gone.toFree(excess, wantedBy));
  }

  /** The same below what a principal may have: its own clients that are gone are forgotten. */
  #makeRoomOfPrincipal(bytes: number, wantedBy: ClientRecord): boolean {
    const { principal } = wantedBy;
    const excess = principal.bytes + bytes - this.#bounds.repliesBytesPerPrincipalMax;
    return excess <= 0 || this.#forgetAll(toFree([principal.gone], excess, wantedBy));
  }

  /** Says whether there was anybody to forget. */
  #forgetAll(records: readonly ClientRecord[]): boolean {
    for (const record of records) this.#forget(record);
    if (records.length > 0) this.#onForgotten(records.length);
    return records.length > 0;
  }

  #keptOf(principal: string): KeptOfPrincipal<ClientRecord> {
    let kept = this.#principals.get(principal);
    if (kept === undefined) this.#principals.set(principal, (kept = new KeptOfPrincipal(principal)));
    return kept;
  }

  #forget(record: ClientRecord): void {
    this.#drop(record);
    this.#memory = `${this.#instance}.${++this.#generation}`;
  }

  #drop(record: ClientRecord): void {
    this.#gone.delete(record);
    if (record.isForgotten) return;
    record.isForgotten = true;
    this.#clients.delete(record.key);
    const { principal } = record;
    principal.gone.delete(record);
    principal.clients -= 1;
    principal.bytes -= record.bytes + costOf(record);
    if (principal.clients === 0) this.#principals.delete(principal.id);
    this.#bytes -= record.bytes + costOf(record);
  }
}
