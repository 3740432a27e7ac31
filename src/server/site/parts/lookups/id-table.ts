/**
 * The results of operations, by identifier. The table is a function of the log whose entries it
 * receives, so every reader of that log gets the same table. Entries leave only behind a watermark
 * of their client. Operations at or below a watermark are known to have ended for good. Without
 * watermarks, a late copy of a request would count as new.
 */
import { Fifo } from '../../../service/collections/fifo.ts';
import type { IdTableLimits } from '../../../service/records/retention-limits.ts';
import { RowChanges, type Section, type SectionRows } from '../../../service/records/checkpoint.ts';
import { getClient, formatOperationId, getSequence } from '../../core/operation-id.ts';
import { OperationWindow } from './operation-window.ts';
import type { OperationId } from '../../../service/records/records.ts';

/** An identifier at or below its client's watermark. */
export const EXPIRED = Symbol('expired');

/** The number of retained results of operations, and the approximate bytes of their replies. */
export interface RetainedReplyStats {
  readonly operations: number;
  readonly bytes: number;
}

/** Retained replies by log: `own` for the log of the site, `red` for the red log. */
export interface RetainedReplies {
  readonly own: RetainedReplyStats;
  readonly red: RetainedReplyStats;
}

interface PrincipalEntry<T> {
  readonly name: string;
  clients: number;
  /** The number of its operations that are kept, and the bytes of their values. */
  size: number;
  bytes: number;
  /**
   * Its operations in the order in which they came. Some of them may have left the table already.
   */
  order: Fifo<TableOperation<T>>;
}

/** A client, as a checkpoint describes it too. */
interface KnownClient {
  readonly client: string;
  watermark: number;
  /** Whether the client has sent something since the table last searched for clients to forget. */
  isRecent: boolean;
  /** Its place in the order in which clients are examined. */
  place: number;
}

interface ClientEntry<T> extends KnownClient {
  /** The principal of the client, if its name contains one. */
  readonly principal: PrincipalEntry<T> | undefined;
  readonly operations: OperationWindow<TableOperation<T>>;
  /** The bytes of the values of its operations. */
  bytes: number;
}

/** An operation, as an element of its client's window and of the order in which operations came. */
interface TableOperation<T> {
  readonly entry: ClientEntry<T>;
  readonly sequence: number;
  readonly place: number;
  /** `EXPIRED` once it has left its window. It may stay in the order for a while after that. */
  value: T | typeof EXPIRED;
  bytes: number;
}

function isInWindow<T>({ value }: TableOperation<T>): boolean {
  return value !== EXPIRED;
}

export const ID_TABLE_LIMITS: IdTableLimits = {
  maxOperations: 100_000,
  maxOperationsPerClient: 50_000,
  maxOperationsPerPrincipal: 50_000,
  maxBytes: 256 << 20,
  maxBytesPerPrincipal: 128 << 20,
  maxBytesPerClient: 64 << 20,
  maxClients: 100_000,
};

/** What the table takes in memory for an operation beside its value, and for a client. */
const OPERATION_BYTES = 300;
const CLIENT_BYTES = 500;

/** The number of clients that are examined if there are too many. */
const MAX_CLIENTS_EXAMINED = 8;

/** How values are written into checkpoints. Default: unchanged */
export interface ValueCodec<T> {
  /** Returns `undefined` for a value that does not count yet. */
  save(value: T): unknown;
  load(saved: unknown): T;
  /**
   * Returns the approximate bytes of the value, which are the same after it was loaded. Default: 0
   */
  measure?(value: T): number;
}

interface UnloggedState {
  readonly acknowledged?: number;
  readonly pendingCount?: number;
}

const NO_UNLOGGED_STATE: UnloggedState = {};

/** The results of operations, with a watermark for each client. */
export class IdTable<T> {
  readonly #limits: IdTableLimits;
  readonly #codec: ValueCodec<T>;
  readonly #clients = new Map<string, ClientEntry<T>>();
  readonly #principals = new PrincipalOperations<T>();
  readonly #clientOrder = new Fifo<ClientEntry<T>>();
  #order = new Fifo<TableOperation<T>>();
  #nextPlace = 0;
  #nextClientPlace = 0;
  #size = 0;
  #bytes = 0;
  /** The entry of the last client, because the steps of one operation need it several times. */
  #lastEntry: ClientEntry<T> | undefined;
  readonly #changedOperations = new RowChanges<OperationId>({
    listKeys: () => this.#listOperations(0),
    save: (id) => this.#saveOperation(id),
  });
  /** Operations with this place or a greater one have come since the last set was closed. */
  #firstNewPlace = 0;
  readonly #changedClients = new RowChanges<string>({
    listKeys: () => this.#clients.keys(),
    save: (client) => this.#saveClient(client),
  });

  constructor(limits: IdTableLimits = ID_TABLE_LIMITS, codec?: ValueCodec<T>) {
    this.#limits = limits;
    this.#codec = codec ?? {
      save: (value) => value,
      load: (saved) => saved as T,
    };
  }

  get retainedReplies(): RetainedReplyStats {
    return { operations: this.#size, bytes: this.#bytes };
  }

  /** About how many bytes the table takes in memory. */
  get memoryBytes(): number {
    return this.#bytes + OPERATION_BYTES * this.#order.size + CLIENT_BYTES * this.#clients.size;
  }

  /**
   * Whether one more operation would cost the client one that it has not acknowledged, if the
   * pending ones count.
   */
  isFullFor(
    client: string,
    { acknowledged = 0, pendingCount = 0 }: UnloggedState = NO_UNLOGGED_STATE,
  ): boolean {
    const { maxOperationsPerClient = Infinity, maxBytesPerClient = Infinity } = this.#limits;
    const entry = this.#getEntry(client);
    if (entry === undefined) return pendingCount >= maxOperationsPerClient;
    const { bytes, operations } = entry;
    // This is almost always so. Only otherwise the operations that are not acknowledged are
    // counted.
    if (operations.size + pendingCount < maxOperationsPerClient && bytes < maxBytesPerClient)
      return false;
    if (operations.countAbove(acknowledged) + pendingCount >= maxOperationsPerClient) return true;
    return bytes >= maxBytesPerClient && sumBytesAbove(entry, acknowledged) >= maxBytesPerClient;
  }

  get(id: OperationId): T | typeof EXPIRED | undefined {
    const entry = this.#getEntry(getClient(id));
    if (entry === undefined) return undefined;
    const sequence = getSequence(id);
    return sequence <= entry.watermark ? EXPIRED : entry.operations.get(sequence)?.value;
  }

  /**
   * Returns the first other operation of the same client, or `EXPIRED` if the client's first ones
   * were forgotten.
   */
  otherOf(id: OperationId): T | typeof EXPIRED | undefined {
    const entry = this.#getEntry(getClient(id));
    if (entry === undefined) return undefined;
    if (entry.watermark > 0) return EXPIRED;
    const { first } = entry.operations;
    return first?.sequence === getSequence(id) ? undefined : first?.value;
  }

  /**
   * Remembers an operation, unless its identifier has expired. Returns its place in the order, for
   * `touch`.
   */
  set(id: OperationId, value: T): number {
    const entry = this.#open(getClient(id));
    const sequence = getSequence(id);
    if (sequence <= entry.watermark) return Infinity;
    const retained = entry.operations.get(sequence);
    const place = retained?.place ?? this.#nextPlace;
    const bytes = this.#codec.measure?.(value) ?? 0;
    this.touch(id, place);
    if (retained === undefined) this.#add({ entry, sequence, place, value, bytes });
    else {
      this.#count(entry, bytes - retained.bytes);
      retained.value = value;
      retained.bytes = bytes;
    }
    this.#trimClient(entry);
    this.#trimPrincipal(entry);
    this.#trim();
    return place;
  }

  /** The saved form of this operation is about to change. */
  touch(id: OperationId, place: number): void {
    // New operations are saved anyway. But one may come again whose removal is not saved yet.
    if (place < this.#firstNewPlace || this.#changedOperations.isUntaken(id))
      this.#changedOperations.note(id);
  }

  /**
   * Moves a client's watermark and forgets its operations up to `upTo`. Returns whether that
   * changed anything.
   */
  expire(client: string, upTo: number): boolean {
    const entry = this.#getEntry(client);
    if (entry === undefined || upTo <= entry.watermark) return false;
    this.#changedClients.note(client);
    entry.watermark = upTo;
    entry.isRecent = true;
    const { operations } = entry;
    for (
      let retained = operations.first;
      retained !== undefined && retained.sequence <= upTo;
      retained = operations.first
    ) {
      if (retained.place < this.#firstNewPlace)
        this.#changedOperations.note(formatOperationId(client, retained.sequence));
      operations.shift();
      retained.value = EXPIRED;
      this.#size -= 1;
      this.#principals.onRemoved(entry.principal);
      this.#count(entry, -retained.bytes);
    }
    return true;
  }

  /** Returns two sections of a checkpoint, the operations as `name` and the clients. */
  sections(name: string): Readonly<Record<string, Section>> {
    return {
      [`${name}.clients`]: this.#clientSection(),
      [name]: this.#operationSection(),
    };
  }

  #clientSection(): Section {
    const changes = this.#changedClients;
    return {
      changeAll: () => changes.changeAll(),
      closeChanges: () => changes.closeChanges(),
      takeClosed: (max) => changes.takeClosed(max),
      restore: (rows) => this.#loadClients(rows),
    };
  }

  #operationSection(): Section {
    const changes = this.#changedOperations;
    return {
      changeAll: () => changes.changeAll(),
      closeChanges: () => {
        changes.closeChanges(this.#listOperations(this.#firstNewPlace));
        this.#firstNewPlace = this.#nextPlace;
      },
      takeClosed: (max) => changes.takeClosed(max),
      restore: (rows) => this.#loadOperations(rows),
    };
  }

  /** Returns the operations from this place on, without those that come after the call. */
  #listOperations(from: number): Iterable<OperationId> {
    return this.#listBetween(from, this.#nextPlace);
  }

  *#listBetween(from: number, end: number): Iterable<OperationId> {
    let next = this.#findFrom(from);
    while (next !== undefined && next.place < end) {
      if (isInWindow(next)) yield formatOperationId(next.entry.client, next.sequence);
      // The order may have changed meanwhile.
      next = this.#findFrom(next.place + 1);
    }
  }

  #findFrom(place: number): TableOperation<T> | undefined {
    return this.#order.at(this.#order.findIndex((operation) => operation.place >= place));
  }

  #saveClient(client: string): unknown {
    const entry = this.#clients.get(client);
    return entry && [entry.place, entry.watermark, entry.isRecent];
  }

  #saveOperation(id: OperationId): unknown {
    const retained = this.#clients.get(getClient(id))?.operations.get(getSequence(id));
    const saved = retained && this.#codec.save(retained.value as T);
    return saved === undefined ? undefined : [retained?.place, saved];
  }

  /** Clients come before operations, because operations belong to clients. */
  #loadClients(rows: SectionRows): void {
    const saved = [...rows] as [string, [place: number, watermark: number, isRecent: boolean]][];
    for (const [client, [place, watermark, isRecent]] of saved.toSorted(comparePlaces)) {
      this.#addClient({ client, watermark, isRecent, place });
    }
  }

  #loadOperations(rows: SectionRows): void {
    const saved = [...rows] as [OperationId, [place: number, value: unknown]][];
    for (const [id, [place, value]] of saved.toSorted(comparePlaces)) {
      const [client, sequence] = [getClient(id), getSequence(id)];
      const entry = this.#clients.get(client);
      if (entry === undefined)
        throw new Error(`a checkpoint has operation ${id}, and not its client`);
      const loaded = this.#codec.load(value);
      this.#add({
        entry,
        sequence,
        place,
        value: loaded,
        bytes: this.#codec.measure?.(loaded) ?? 0,
      });
    }
  }

  #add(retained: TableOperation<T>): void {
    retained.entry.operations.add(retained);
    this.#order.push(retained);
    this.#principals.onAdded(retained);
    this.#nextPlace = retained.place + 1;
    this.#size += 1;
    this.#count(retained.entry, retained.bytes);
  }

  #count(entry: ClientEntry<T>, bytes: number): void {
    entry.bytes += bytes;
    if (entry.principal !== undefined) entry.principal.bytes += bytes;
    this.#bytes += bytes;
  }

  #addClient(value: KnownClient): ClientEntry<T> {
    const { client, watermark, isRecent, place } = value;
    const principal = this.#principals.addClient(client);
    const operations = new OperationWindow<TableOperation<T>>();
    const entry: ClientEntry<T> = {
      client,
      principal,
      operations,
      watermark,
      bytes: 0,
      isRecent,
      place,
    };
    this.#clients.set(client, entry);
    this.#clientOrder.push(entry);
    this.#nextClientPlace = place + 1;
    return entry;
  }

  #getEntry(client: string): ClientEntry<T> | undefined {
    if (client === this.#lastEntry?.client) return this.#lastEntry;
    return (this.#lastEntry = this.#clients.get(client));
  }

  #open(client: string): ClientEntry<T> {
    let entry = this.#getEntry(client);
    if (entry === undefined) {
      this.#makeRoomForClient();
      this.#changedClients.note(client);
      entry = this.#addClient({
        client,
        watermark: 0,
        isRecent: true,
        place: this.#nextClientPlace,
      });
    }
    if (!entry.isRecent) this.#changedClients.note(client);
    entry.isRecent = true;
    return entry;
  }

  /** Beyond its limits a client loses its own oldest operations. */
  #trimClient(entry: ClientEntry<T>): void {
    const { maxOperationsPerClient = Infinity, maxBytesPerClient = Infinity } = this.#limits;
    const { operations, client } = entry;
    // The latest one stays, however large it is, so that its retry gets an answer.
    while (
      operations.size > maxOperationsPerClient ||
      (entry.bytes > maxBytesPerClient && operations.size > 1)
    ) {
      this.expire(client, (operations.first as TableOperation<T>).sequence);
    }
  }

  /** Beyond its limits a principal loses the oldest operations of its clients. */
  #trimPrincipal({ principal }: ClientEntry<T>): void {
    if (principal === undefined) return;
    const { maxOperationsPerPrincipal = Infinity, maxBytesPerPrincipal = Infinity } = this.#limits;
    while (
      principal.size > maxOperationsPerPrincipal ||
      (principal.bytes > maxBytesPerPrincipal && principal.size > 1)
    ) {
      const { entry, sequence } = this.#principals.getOldest(principal);
      this.expire(entry.client, sequence);
    }
  }

  #trim(): void {
    const { maxOperations, maxBytes = Infinity } = this.#limits;
    while (this.#size > maxOperations || (this.#bytes > maxBytes && this.#size > 1)) {
      const oldest = this.#order.shift() as TableOperation<T>;
      if (isInWindow(oldest)) this.expire(oldest.entry.client, oldest.sequence);
    }
    takeRemoved(this.#order);
    if (this.#order.size > 2 * maxOperations)
      this.#order = new Fifo(this.#order.slice().filter(isInWindow));
  }

  /**
   * Forgets clients by second chance: a client that has sent something since it was last examined
   * goes to the end.
   */
  #makeRoomForClient(): void {
    for (
      let looks = 0;
      looks < MAX_CLIENTS_EXAMINED && this.#clients.size >= this.#limits.maxClients;
      looks += 1
    ) {
      const entry = this.#clientOrder.shift() as ClientEntry<T>;
      const { client } = entry;
      this.#changedClients.note(client);
      if (!entry.isRecent && entry.operations.size === 0) {
        this.#clients.delete(client);
        this.#lastEntry = undefined;
        this.#principals.removeClient(entry.principal);
        continue;
      }
      // A client with operations stays. The limit of operations limits the number of such clients.
      entry.isRecent = false;
      entry.place = this.#nextClientPlace++;
      this.#clientOrder.push(entry);
    }
  }
}

function sumBytesAbove<T>({ operations }: ClientEntry<T>, acknowledged: number): number {
  return operations
    .all()
    .reduce((sum, { sequence, bytes }) => (sequence > acknowledged ? sum + bytes : sum), 0);
}

function comparePlaces(
  [, [a]]: readonly [string, readonly [number, ...unknown[]]],
  [, [b]]: readonly [string, readonly [number, ...unknown[]]],
): number {
  return a - b;
}

/** Removed operations stay in an order up to this multiple of the kept ones, plus this number. */
const REMOVED_SHARE = 2;
const MIN_REMOVED = 64;

class PrincipalOperations<T> {
  readonly #principals = new Map<string, PrincipalEntry<T>>();

  /** A client is new. Returns its principal, if its name contains one. */
  addClient(client: string): PrincipalEntry<T> | undefined {
    const name = client.slice(0, Math.max(0, client.indexOf('/')));
    if (name === '') return undefined;
    let principal = this.#principals.get(name);
    if (principal === undefined) {
      principal = { name, clients: 0, size: 0, bytes: 0, order: new Fifo() };
      this.#principals.set(name, principal);
    }
    principal.clients += 1;
    return principal;
  }

  removeClient(principal: PrincipalEntry<T> | undefined): void {
    if (principal === undefined) return;
    principal.clients -= 1;
    if (principal.clients === 0) this.#principals.delete(principal.name);
  }

  onAdded(retained: TableOperation<T>): void {
    const { principal } = retained.entry;
    if (principal === undefined) return;
    principal.order.push(retained);
    principal.size += 1;
  }

  onRemoved(principal: PrincipalEntry<T> | undefined): void {
    if (principal === undefined) return;
    principal.size -= 1;
    takeRemoved(principal.order);
    if (principal.order.size <= REMOVED_SHARE * principal.size + MIN_REMOVED) return;
    principal.order = new Fifo(principal.order.slice().filter(isInWindow));
  }

  /** Returns the oldest kept operation of the principal. There must be one. */
  getOldest({ order }: PrincipalEntry<T>): TableOperation<T> {
    takeRemoved(order);
    return order.at(0) as TableOperation<T>;
  }
}

/** Takes removed operations from the front of the order, where most of them are. */
function takeRemoved<T>(order: Fifo<TableOperation<T>>): void {
  for (let next = order.at(0); next !== undefined && !isInWindow(next); next = order.at(0))
    order.shift();
}
