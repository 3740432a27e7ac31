/**
 * What became of operations, by identifier. A function of the log whose entries it is told of, so that it is the same
 * wherever and whenever that log is read: entries leave only behind a watermark of their client, and what is at or below
 * a watermark is known to be over for ever. Without that, a late copy of a request would count as new.
 */
import { Fifo } from '../log/fifo.ts';
import { clientOf, operationId, sequenceOf } from './operation-id.ts';
import type { OperationId } from './records.ts';

/** An identifier at or below its client's watermark. */
export const EXPIRED = Symbol('expired');

/** Bounds of a table, counted along its log. */
export interface IdTableLimits {
  /** Operations remembered; beyond them the oldest takes its client's watermark with it. */
  readonly operationsMax: number;
  /** Clients remembered; beyond them those that have not been heard of for longest are forgotten. */
  readonly clientsMax: number;
}

export const ID_TABLE_LIMITS: IdTableLimits = { operationsMax: 100_000, clientsMax: 100_000 };

/** Clients looked at when a new one is one too many. */
const LOOKS_MAX = 8;

interface ClientEntry<T> {
  readonly operations: Map<number, T>;
  watermark: number;
  /** Heard of since the table last looked for clients to forget. */
  isRecent: boolean;
}

/** A table as plain data, for checkpoints. */
export type IdTableSnapshot<T> = readonly {
  readonly client: string;
  readonly watermark: number;
  readonly operations: readonly (readonly [sequence: number, value: T])[];
}[];

/** What became of operations, with a watermark a client. */
export class IdTable<T> {
  readonly #limits: IdTableLimits;
  readonly #clients = new Map<string, ClientEntry<T>>();
  readonly #clientOrder = new Fifo<string>();
  readonly #order = new Fifo<OperationId>();
  #size = 0;

  constructor(limits: IdTableLimits = ID_TABLE_LIMITS) {
    this.#limits = limits;
  }

  /** Operations remembered. */
  get size(): number {
    return this.#size;
  }

  get(id: OperationId): T | typeof EXPIRED | undefined {
    const entry = this.#clients.get(clientOf(id));
    if (entry === undefined) return undefined;
    const sequence = sequenceOf(id);
    return sequence <= entry.watermark ? EXPIRED : entry.operations.get(sequence);
  }

  /** Remembers an operation, unless its identifier has expired. */
  set(id: OperationId, value: T): void {
    const entry = this.#open(clientOf(id));
    const sequence = sequenceOf(id);
    if (sequence <= entry.watermark) return;
    if (!entry.operations.has(sequence)) {
      this.#size += 1;
      this.#order.push(id);
    }
    entry.operations.set(sequence, value);
    this.#trim();
  }

  /** Moves a client's watermark: forgets its operations up to `upTo`. Says whether that changed anything. */
  expire(client: string, upTo: number): boolean {
    const entry = this.#clients.get(client);
    if (entry === undefined || upTo <= entry.watermark) return false;
    entry.watermark = upTo;
    entry.isRecent = true;
    // Clients number upwards: what comes after the first that stays, stays as well, but for stragglers.
    for (const sequence of entry.operations.keys()) {
      if (sequence > upTo) break;
      entry.operations.delete(sequence);
      this.#size -= 1;
    }
    return true;
  }

  snapshot(): IdTableSnapshot<T> {
    return [...this.#clients].map(([client, { watermark, operations }]) => ({
      client,
      watermark,
      operations: [...operations],
    }));
  }

  /** Takes over what `snapshot` gave, into an empty table. */
  restore(snapshot: IdTableSnapshot<T>): void {
    for (const { client, watermark, operations } of snapshot) {
      for (const [sequence, value] of operations) this.set(operationId(client, sequence), value);
      this.#open(client).watermark = watermark;
    }
  }

  #open(client: string): ClientEntry<T> {
    let entry = this.#clients.get(client);
    if (entry === undefined) {
      entry = { operations: new Map(), watermark: 0, isRecent: true };
      this.#clients.set(client, entry);
      this.#clientOrder.push(client);
      this.#trimClients();
    }
    entry.isRecent = true;
    return entry;
  }

  #trim(): void {
    const { operationsMax } = this.#limits;
    while (this.#size > operationsMax || this.#order.size > 2 * operationsMax) {
      const oldest = this.#order.shift();
      if (oldest === undefined) return;
      const value = this.get(oldest);
      if (this.#size > operationsMax) {
        this.expire(clientOf(oldest), sequenceOf(oldest));
        this.#drop(oldest);
      } else if (value === EXPIRED) this.#drop(oldest);
      else if (value !== undefined) this.#order.push(oldest);
    }
  }

  /** For what came in another order than its numbers: `expire` may have passed it over. */
  #drop(id: OperationId): void {
    if (this.#clients.get(clientOf(id))?.operations.delete(sequenceOf(id)) === true) this.#size -= 1;
  }

  /** Second chance: a client that was heard of since it was last looked at goes to the end of the line. */
  #trimClients(): void {
    for (let looks = 0; looks < LOOKS_MAX && this.#clients.size > this.#limits.clientsMax; looks += 1) {
      const client = this.#clientOrder.shift() as string;
      const entry = this.#clients.get(client) as ClientEntry<T>;
      if (!entry.isRecent && entry.operations.size === 0) {
        this.#clients.delete(client);
        continue;
      }
      // One with operations stays: the bound on those bounds the clients that have some.
      entry.isRecent = false;
      this.#clientOrder.push(client);
    }
  }
}
