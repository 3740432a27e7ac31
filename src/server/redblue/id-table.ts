/**
 * What became of operations, by identifier. A function of the log whose entries it is told of, so that it is the same
 * wherever and whenever that log is read: entries leave only behind a watermark of their client, and what is at or below
 * a watermark is known to be over for ever. Without that, a late copy of a request would count as new.
 */
import { Fifo } from '../log/fifo.ts';
import { Changes } from './checkpoint.ts';
import type { SavedRow, Section, SectionRows } from './checkpoint.ts';
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

interface Held<T> {
  readonly value: T;
  /** Its place in the order in which operations came. */
  readonly place: number;
}

interface ClientEntry<T> {
  readonly operations: Map<number, Held<T>>;
  watermark: number;
  /** Heard of since the table last looked for clients to forget. */
  isRecent: boolean;
  /** Its place in the order in which clients are looked at. */
  place: number;
}

interface InOrder<T> {
  readonly client: string;
  readonly entry: ClientEntry<T>;
  readonly sequence: number;
  readonly place: number;
}

/** How values are written into checkpoints; as they are unless given. */
export interface ValueCodec<T> {
  /** `undefined` for a value that does not count yet. */
  save(value: T): unknown;
  load(saved: unknown): T;
}

const PLAIN: ValueCodec<never> = { save: (value) => value, load: (saved) => saved as never };

/** What became of operations, with a watermark a client. */
export class IdTable<T> {
  readonly #limits: IdTableLimits;
  readonly #codec: ValueCodec<T>;
  readonly #clients = new Map<string, ClientEntry<T>>();
  readonly #clientOrder = new Fifo<string>();
  #order = new Fifo<InOrder<T>>();
  #nextPlace = 0;
  #nextClientPlace = 0;
  #size = 0;
  readonly #changedOperations = new Changes<OperationId>();
  readonly #changedClients = new Changes<string>();

  constructor(
    limits: IdTableLimits = ID_TABLE_LIMITS,
    codec: ValueCodec<T> = PLAIN as ValueCodec<unknown> as ValueCodec<T>,
  ) {
    this.#limits = limits;
    this.#codec = codec;
  }

  /** Operations remembered. */
  get size(): number {
    return this.#size;
  }

  get(id: OperationId): T | typeof EXPIRED | undefined {
    const entry = this.#clients.get(clientOf(id));
    if (entry === undefined) return undefined;
    const sequence = sequenceOf(id);
    return sequence <= entry.watermark ? EXPIRED : entry.operations.get(sequence)?.value;
  }

  /** Remembers an operation, unless its identifier has expired. */
  set(id: OperationId, value: T): void {
    const client = clientOf(id);
    const entry = this.#open(client);
    const sequence = sequenceOf(id);
    if (sequence <= entry.watermark) return;
    let place = entry.operations.get(sequence)?.place;
    if (place === undefined) {
      place = this.#nextPlace++;
      this.#size += 1;
      this.#order.push({ client, entry, sequence, place });
    }
    entry.operations.set(sequence, { value, place });
    this.#changedOperations.add(id);
    this.#trim();
  }

  /** The value of this operation is written differently from now on. */
  touch(id: OperationId): void {
    this.#changedOperations.add(id);
  }

  /** Moves a client's watermark: forgets its operations up to `upTo`. Says whether that changed anything. */
  expire(client: string, upTo: number): boolean {
    const entry = this.#clients.get(client);
    if (entry === undefined || upTo <= entry.watermark) return false;
    entry.watermark = upTo;
    entry.isRecent = true;
    this.#changedClients.add(client);
    // Clients number upwards: what comes after the first that stays, stays as well, but for stragglers.
    for (const sequence of entry.operations.keys()) {
      if (sequence > upTo) break;
      this.#remove(entry, operationId(client, sequence));
    }
    return true;
  }

  /** The table as sections of a checkpoint: by `name` its operations, and its clients. */
  sections(name: string): Readonly<Record<string, Section>> {
    return { [`${name}.clients`]: this.#clientSection(), [name]: this.#operationSection() };
  }

  #clientSection(): Section {
    const changes = this.#changedClients;
    return {
      get changes() {
        return changes.size;
      },
      changeAll: () => changes.addAll(this.#clients.keys()),
      takeChanges: (max) => changes.take(max).map((client) => this.#saveClient(client)),
      restore: (rows) => this.#loadClients(rows),
    };
  }

  #operationSection(): Section {
    const changes = this.#changedOperations;
    return {
      get changes() {
        return changes.size;
      },
      changeAll: () => changes.addAll(this.#ids()),
      takeChanges: (max) => changes.take(max).map((id) => this.#saveOperation(id)),
      restore: (rows) => this.#loadOperations(rows),
    };
  }

  *#ids(): Iterable<OperationId> {
    for (const [client, { operations }] of this.#clients) {
      for (const sequence of operations.keys()) yield operationId(client, sequence);
    }
  }

  #saveClient(client: string): SavedRow {
    const entry = this.#clients.get(client);
    return [client, entry && [entry.place, entry.watermark, entry.isRecent]];
  }

  #saveOperation(id: OperationId): SavedRow {
    const held = this.#clients.get(clientOf(id))?.operations.get(sequenceOf(id));
    const saved = held && this.#codec.save(held.value);
    return [id, saved === undefined ? undefined : [held?.place, saved]];
  }

  /** Before the operations: those belong to clients. */
  #loadClients(rows: SectionRows): void {
    const saved = [...rows] as [string, [place: number, watermark: number, isRecent: boolean]][];
    for (const [client, [place, watermark, isRecent]] of saved.toSorted(byPlace)) {
      this.#clients.set(client, { operations: new Map(), watermark, isRecent, place });
      this.#clientOrder.push(client);
      this.#nextClientPlace = place + 1;
    }
  }

  #loadOperations(rows: SectionRows): void {
    const saved = [...rows] as [OperationId, [place: number, value: unknown]][];
    for (const [id, [place, value]] of saved.toSorted(byPlace)) {
      const [client, sequence] = [clientOf(id), sequenceOf(id)];
      const entry = this.#clients.get(client);
      if (entry === undefined) throw new Error(`a checkpoint has operation ${id}, and not its client`);
      entry.operations.set(sequence, { place, value: this.#codec.load(value) });
      this.#order.push({ client, entry, sequence, place });
      this.#nextPlace = place + 1;
      this.#size += 1;
    }
  }

  #open(client: string): ClientEntry<T> {
    let entry = this.#clients.get(client);
    if (entry === undefined) {
      this.#makeRoomForClient();
      entry = { operations: new Map(), watermark: 0, isRecent: true, place: this.#nextClientPlace++ };
      this.#clients.set(client, entry);
      this.#clientOrder.push(client);
      this.#changedClients.add(client);
    }
    if (!entry.isRecent) this.#changedClients.add(client);
    entry.isRecent = true;
    return entry;
  }

  #trim(): void {
    const { operationsMax } = this.#limits;
    while (this.#size > operationsMax) {
      const oldest = this.#order.shift() as InOrder<T>;
      if (!isHeld(oldest)) continue;
      const { client, entry, sequence } = oldest;
      this.expire(client, sequence);
      // One that came in another order than its number: `expire` may have passed it over.
      this.#remove(entry, operationId(client, sequence));
    }
    // What has left otherwise is still in the order: at its front mostly, where it is taken out at once.
    for (let next = this.#order.at(0); next !== undefined && !isHeld(next); next = this.#order.at(0)) {
      this.#order.shift();
    }
    if (this.#order.size > 2 * operationsMax) this.#order = new Fifo(this.#order.slice().filter(isHeld));
  }

  #remove(entry: ClientEntry<T>, id: OperationId): void {
    if (!entry.operations.delete(sequenceOf(id))) return;
    this.#size -= 1;
    this.#changedOperations.add(id);
  }

  /** Second chance: a client that was heard of since it was last looked at goes to the end of the line. */
  #makeRoomForClient(): void {
    for (let looks = 0; looks < LOOKS_MAX && this.#clients.size >= this.#limits.clientsMax; looks += 1) {
      const client = this.#clientOrder.shift() as string;
      const entry = this.#clients.get(client) as ClientEntry<T>;
      this.#changedClients.add(client);
      if (!entry.isRecent && entry.operations.size === 0) {
        this.#clients.delete(client);
        continue;
      }
      // One with operations stays: the bound on those bounds the clients that have some.
      entry.isRecent = false;
      entry.place = this.#nextClientPlace++;
      this.#clientOrder.push(client);
    }
  }
}

function isHeld<T>({ entry, sequence, place }: InOrder<T>): boolean {
  return entry.operations.get(sequence)?.place === place;
}

function byPlace(
  [, [a]]: readonly [string, readonly [number, ...unknown[]]],
  [, [b]]: readonly [string, readonly [number, ...unknown[]]],
): number {
  return a - b;
}
