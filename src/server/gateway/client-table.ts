/**
 * Exactly once, as far as one gateway can see: the replies of every client's updates, kept until the client acknowledges
 * them. An update submitted again after a reconnect gets its recorded reply instead of a second execution. A gateway
 * that restarts has an empty table; then it is up to the store, which is given the same `operationId` again.
 */
import { NumberedTable } from '../../protocol/numbered-table.ts';
import type { Submission } from './submission.ts';

/** What a live connection of a client must be able to do for the table. */
export interface ClientConnection {
  readonly attempt: number;
  /** A newer connection took over. */
  replaced(): void;
}

/** One client, over all its connections. */
export class ClientRecord {
  readonly #entries = new NumberedTable<Submission>();
  /** Unique among all clients: principal and client id. */
  readonly key: string;
  /** The codec in which replies are kept. */
  readonly subprotocol: string;
  connection: ClientConnection | undefined;
  goneAt = 0;
  #acked = 0;

  constructor(key: string, subprotocol: string) {
    this.key = key;
    this.subprotocol = subprotocol;
  }

  get size(): number {
    return this.#entries.size;
  }

  /** Up to this number the client has acknowledged all operations. */
  get acked(): number {
    return this.#acked;
  }

  find(id: number): Submission | undefined {
    return this.#entries.get(id);
  }

  record(submission: Submission): void {
    this.#entries.set(submission.id, submission);
  }

  acknowledge(upTo: number): void {
    if (upTo <= this.#acked) return;
    this.#acked = upTo;
    this.#entries.forEach((_, id) => {
      // Clients number upwards; of one that does not, a few replies stay until the next acknowledgement.
      if (id > upTo) return false;
      this.#entries.delete(id);
      return true;
    });
  }
}

/** All clients of a gateway. */
export class ClientTable {
  readonly #clients = new Map<string, ClientRecord>();

  get size(): number {
    return this.#clients.size;
  }

  /** Updates, under way or ended, of all clients. */
  get replies(): number {
    let replies = 0;
    for (const record of this.#clients.values()) replies += record.size;
    return replies;
  }

  /** The record of a client, made on its first visit. A principal never sees the operations of another. */
  open(principal: string, client: string, subprotocol: string): ClientRecord {
    const key = `${encodeURIComponent(principal)}/${client}`;
    let record = this.#clients.get(key);
    if (record === undefined) {
      record = new ClientRecord(key, subprotocol);
      this.#clients.set(key, record);
    }
    return record;
  }

  /** Forgets clients that are gone: those with replies since `before`, the others at once. Returns how many had some. */
  forgetGone(before: number): number {
    let forgotten = 0;
    for (const [key, record] of this.#clients) {
      if (record.connection !== undefined || (record.size > 0 && record.goneAt >= before)) continue;
      this.#clients.delete(key);
      if (record.size > 0) forgotten++;
    }
    return forgotten;
  }
}
