/** What a gateway keeps of one client, over all its connections: the replies of its updates, and their size. */
import { NumberedTable } from '../../../protocol/numbered-table.ts';
import type { KeptOfPrincipal } from './kept-of-principal.ts';
import { lodge } from '../submission/lodgers.ts';
import type { Ended, RepeatableUpdate } from '../submission/submission-parts.ts';

/** What a live connection of a client must be able to do for the table. */
export interface ClientConnection {
  readonly attempt: number;
  /** A newer connection took over. */
  replaced(): void;
}

/** The bytes that may be kept, of one client, of a principal and of all. */
export interface ReplyBudget {
  /** Takes so many bytes more for the client, if there is room for them. */
  take(record: ClientRecord, bytes: number): boolean;
  /** The same, whether there is room or not. */
  charge(record: ClientRecord, bytes: number): void;
  give(record: ClientRecord, bytes: number): void;
}

/** What it costs to remember an update, beside its reply. */
export const ENTRY_BYTES = 192;

/** What it costs to remember updates whose numbers are far from each other, for each such stretch of numbers. */
const PAGE_BYTES = 384;

/** What it costs to remember a client, beside its name. */
export const RECORD_BYTES = 1_024;

/** What a client takes of which nothing else is kept. */
export function costOf({ key }: Pick<ClientRecord, 'key'>): number {
  return RECORD_BYTES + key.length;
}

/** One client, over all its connections. */
export class ClientRecord {
  readonly #entries = new NumberedTable<RepeatableUpdate>();
  readonly #budget: ReplyBudget;
  /** Unique among all clients: principal and client id. */
  readonly key: string;
  /** The codec in which replies are kept. */
  readonly subprotocol: string;
  /** Names what is remembered of the client. */
  readonly memory: string;
  /** What is kept of all clients of its principal. */
  readonly principal: KeptOfPrincipal<ClientRecord>;
  connection: ClientConnection | undefined;
  /** Whether it is among those that are gone, and since when. */
  isGone = false;
  goneAt = 0;
  /** What is kept of its updates, in bytes; the table's to change. */
  bytes = 0;
  /** Nothing is kept of it any more; what it had was given back as a whole. The table's to set. */
  isForgotten = false;
  #acked = 0;
  /** Those that have been charged. */
  #pages = 0;

  constructor(parts: Pick<ClientRecord, 'key' | 'subprotocol' | 'memory' | 'principal'>, budget: ReplyBudget) {
    this.key = parts.key;
    this.subprotocol = parts.subprotocol;
    this.memory = parts.memory;
    this.principal = parts.principal;
    this.#budget = budget;
  }

  get size(): number {
    return this.#entries.size;
  }

  /** Up to this number the client has acknowledged all updates. */
  get acked(): number {
    return this.#acked;
  }

  find(id: number): RepeatableUpdate | undefined {
    return this.#entries.get(id);
  }

  record(submission: RepeatableUpdate & { readonly id: number }): void {
    const before = this.#entries.get(submission.id);
    if (before === undefined) this.#budget.charge(this, ENTRY_BYTES);
    else this.give(before.forget());
    this.#entries.set(submission.id, submission);
    this.#countPages();
  }

  /** The update has ended, unless another one has taken its place. */
  ended(update: RepeatableUpdate & { readonly id: number }, as: Ended): void {
    if (this.#entries.get(update.id) !== update) return this.give(as.forget());
    this.#entries.set(update.id, as);
    const { sharedBlock } = as;
    if (sharedBlock !== undefined) lodge(as, sharedBlock.buffer);
  }

  acknowledge(upTo: number): void {
    if (upTo <= this.#acked) return;
    this.#acked = upTo;
    let freed = 0;
    this.#entries.forEach((submission, id) => {
      // Clients number upwards; of one that does not, a few replies stay until the next acknowledgement.
      if (id > upTo) return false;
      this.#entries.delete(id);
      freed += ENTRY_BYTES + submission.forget();
      return true;
    });
    this.give(freed);
    this.#countPages();
  }

  /** Takes so many bytes more, if there is room for them. */
  take(bytes: number): boolean {
    return this.#budget.take(this, bytes);
  }

  /** The same, whether there is room or not. */
  charge(bytes: number): void {
    this.#budget.charge(this, bytes);
  }

  /** Gives back what was taken. */
  give(bytes: number): void {
    if (bytes > 0) this.#budget.give(this, bytes);
  }

  #countPages(): void {
    const { pages } = this.#entries;
    if (pages === this.#pages) return;
    this.#budget.charge(this, (pages - this.#pages) * PAGE_BYTES);
    this.#pages = pages;
  }
}
