/**
 * What became of operations, by identifier. A function of the log whose entries it is told of, so that it is the same
 * wherever and whenever that log is read: entries leave only behind a watermark of their client, and what is at or below
 * a watermark is known to be over for ever. Without that, a late copy of a request would count as new.
 */
import { Fifo } from '../../collections/fifo.ts';
import type { IdTableLimits } from '../../records/bounds.ts';
import { Changes, type SavedRow, type Section, type SectionRows } from '../../records/checkpoint.ts';
import { clientOf, operationId, sequenceOf } from '../../records/operation-id.ts';
import { OperationWindow } from './operation-window.ts';
import { EXPIRED, isHeld } from './remembered.ts';
import type { ClientEntry, Held, RememberedInLog, PrincipalEntry } from './remembered.ts';
import type { OperationId } from '../../records/records.ts';

export { EXPIRED };

export const ID_TABLE_LIMITS: IdTableLimits = {
  operationsMax: 100_000,
  perClientMax: 50_000,
  perPrincipalMax: 50_000,
  bytesMax: 256 << 20,
  principalBytesMax: 128 << 20,
  clientBytesMax: 64 << 20,
  clientsMax: 100_000,
};

/** Clients looked at when a new one is one too many. */
const LOOKS_MAX = 8;

/** How values are written into checkpoints; as they are unless given. */
export interface ValueCodec<T> {
  /** `undefined` for a value that does not count yet. */
  save(value: T): unknown;
  load(saved: unknown): T;
  /** What the value takes in memory: the same after it was loaded. Nothing, unless given. */
  bytesOf?(value: T): number;
}

const PLAIN: ValueCodec<never> = { save: (value) => value, load: (saved) => saved as never };

/** What is known of a client that its log has not heard of. */
interface Besides {
  readonly acknowledged?: number;
  readonly coming?: number;
}

const NONE: Besides = {};

/** What became of operations, with a watermark a client. */
export class IdTable<T> {
  readonly #limits: IdTableLimits;
  readonly #codec: ValueCodec<T>;
  readonly #clients = new Map<string, ClientEntry<T>>();
  readonly #principals = new RememberedPrincipals<T>();
  readonly #clientOrder = new Fifo<ClientEntry<T>>();
  #order = new Fifo<Held<T>>();
  #nextPlace = 0;
  #nextClientPlace = 0;
  #size = 0;
  #bytes = 0;
  /** Of the client asked for last: the steps of one operation ask for it again and again. */
  #lastEntry: ClientEntry<T> | undefined;
  readonly #changedOperations = new OperationChanges();
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

  /** What the values take. */
  get bytes(): number {
    return this.#bytes;
  }

  get remembered(): RememberedInLog {
    return { operations: this.#size, bytes: this.#bytes };
  }

  /**
   * Whether one more operation of the client would cost it one of its others, with so many of it `coming` that the log does
   * not have yet, and without what it has `acknowledged` and the log has not heard of.
   */
  isFullFor(client: string, { acknowledged = 0, coming = 0 }: Besides = NONE): boolean {
    const { perClientMax = Infinity, clientBytesMax = Infinity } = this.#limits;
    const entry = this.#entryOf(client);
    if (entry === undefined) return coming >= perClientMax;
    const { bytes, operations } = entry;
    // Nearly always: what it has not acknowledged is looked for and added up only where that may matter.
    if (operations.size + coming < perClientMax && bytes < clientBytesMax) return false;
    if (operations.countAbove(acknowledged) + coming >= perClientMax) return true;
    return bytes >= clientBytesMax && bytesAbove(entry, acknowledged) >= clientBytesMax;
  }

  get(id: OperationId): T | typeof EXPIRED | undefined {
    const entry = this.#entryOf(clientOf(id));
    if (entry === undefined) return undefined;
    const sequence = sequenceOf(id);
    return sequence <= entry.watermark ? EXPIRED : entry.operations.get(sequence)?.value;
  }

  /** The first operation of the same client, unless it is this one; `EXPIRED` if the client's first ones were forgotten. */
  otherOf(id: OperationId): T | typeof EXPIRED | undefined {
    const entry = this.#entryOf(clientOf(id));
    if (entry === undefined) return undefined;
    if (entry.watermark > 0) return EXPIRED;
    const { first } = entry.operations;
    return first?.sequence === sequenceOf(id) ? undefined : first?.value;
  }

  /**
   * Remembers an operation, unless its identifier has expired. Gives its place in the order in which operations came, for
   * `touch`.
   */
  set(id: OperationId, value: T): number {
    const entry = this.#open(clientOf(id));
    const sequence = sequenceOf(id);
    if (sequence <= entry.watermark) return Infinity;
    const held = entry.operations.get(sequence);
    const place = held?.place ?? this.#nextPlace;
    const bytes = this.#codec.bytesOf?.(value) ?? 0;
    if (held === undefined) this.#add({ entry, sequence, place, value, bytes });
    else {
      this.#count(entry, bytes - held.bytes);
      held.value = value;
      held.bytes = bytes;
    }
    this.#changedOperations.add(id, place);
    this.#trimClient(entry);
    this.#trimPrincipal(entry);
    this.#trim();
    return place;
  }

  /** The value of this operation is written differently from now on. */
  touch(id: OperationId, place: number): void {
    this.#changedOperations.add(id, place);
  }

  /** Moves a client's watermark: forgets its operations up to `upTo`. Says whether that changed anything. */
  expire(client: string, upTo: number): boolean {
    const entry = this.#entryOf(client);
    if (entry === undefined || upTo <= entry.watermark) return false;
    entry.watermark = upTo;
    entry.isRecent = true;
    this.#changedClients.add(client);
    for (let held = entry.operations.takeUpTo(upTo); held !== undefined; held = entry.operations.takeUpTo(upTo)) {
      held.value = EXPIRED;
      this.#size -= 1;
      this.#principals.left(entry.principal);
      this.#count(entry, -held.bytes);
      if (this.#changedOperations.counts(held.place)) {
        this.#changedOperations.add(operationId(client, held.sequence), held.place);
      }
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
      get firstTaken() {
        return changes.firstTaken;
      },
      changeAll: () => changes.addAll(this.#clients.keys()),
      takeChanges: (max) => changes.take(max).map((client) => this.#saveClient(client)),
      restore: (rows) => this.#loadClients(rows),
    };
  }

  #operationSection(): Section {
    const changes = this.#changedOperations;
    const size = (): number => changes.sizeIn(this.#order);
    return {
      get changes() {
        return size();
      },
      changeAll: () => changes.addAll(),
      takeChanges: (max) => changes.take<Held<T>>(max, this.#order, isHeld).map((id) => this.#saveOperation(id)),
      restore: (rows) => this.#loadOperations(rows),
    };
  }

  #saveClient(client: string): SavedRow {
    const entry = this.#clients.get(client);
    return [client, entry && [entry.place, entry.watermark, entry.isRecent]];
  }

  #saveOperation(id: OperationId): SavedRow {
    const held = this.#clients.get(clientOf(id))?.operations.get(sequenceOf(id));
    const saved = held && this.#codec.save(held.value as T);
    return [id, saved === undefined ? undefined : [held?.place, saved]];
  }

  /** Before the operations: those belong to clients. */
  #loadClients(rows: SectionRows): void {
    const saved = [...rows] as [string, [place: number, watermark: number, isRecent: boolean]][];
    for (const [client, [place, watermark, isRecent]] of saved.toSorted(byPlace)) {
      this.#addClient({ client, watermark, isRecent, place });
    }
  }

  #loadOperations(rows: SectionRows): void {
    const saved = [...rows] as [OperationId, [place: number, value: unknown]][];
    for (const [id, [place, value]] of saved.toSorted(byPlace)) {
      const [client, sequence] = [clientOf(id), sequenceOf(id)];
      const entry = this.#clients.get(client);
      if (entry === undefined) throw new Error(`a checkpoint has operation ${id}, and not its client`);
      const loaded = this.#codec.load(value);
      this.#add({ entry, sequence, place, value: loaded, bytes: this.#codec.bytesOf?.(loaded) ?? 0 });
    }
  }

  #add(held: Held<T>): void {
    held.entry.operations.add(held);
    this.#order.push(held);
    this.#principals.came(held);
    this.#nextPlace = held.place + 1;
    this.#size += 1;
    this.#count(held.entry, held.bytes);
  }

  #count(entry: ClientEntry<T>, bytes: number): void {
    entry.bytes += bytes;
    if (entry.principal !== undefined) entry.principal.bytes += bytes;
    this.#bytes += bytes;
  }

  #addClient(given: Pick<ClientEntry<T>, 'client' | 'watermark' | 'isRecent' | 'place'>): ClientEntry<T> {
    const { client, watermark, isRecent, place } = given;
    const principal = this.#principals.enter(client);
    const operations = new OperationWindow<Held<T>>();
    const entry: ClientEntry<T> = { client, principal, operations, watermark, bytes: 0, isRecent, place };
    this.#clients.set(client, entry);
    this.#clientOrder.push(entry);
    this.#nextClientPlace = place + 1;
    return entry;
  }

  #entryOf(client: string): ClientEntry<T> | undefined {
    if (client === this.#lastEntry?.client) return this.#lastEntry;
    return (this.#lastEntry = this.#clients.get(client));
  }

  #open(client: string): ClientEntry<T> {
    let entry = this.#entryOf(client);
    if (entry === undefined) {
      this.#makeRoomForClient();
      entry = this.#addClient({ client, watermark: 0, isRecent: true, place: this.#nextClientPlace });
      this.#changedClients.add(client);
    }
    if (!entry.isRecent) this.#changedClients.add(client);
    entry.isRecent = true;
    return entry;
  }

  /** A client that takes too much loses its own oldest. */
  #trimClient(entry: ClientEntry<T>): void {
    const { perClientMax = Infinity, clientBytesMax = Infinity } = this.#limits;
    const { operations, client } = entry;
    // The latest one stays, however large it is: who asks again for it is answered.
    while (operations.size > perClientMax || (entry.bytes > clientBytesMax && operations.size > 1)) {
      this.expire(client, (operations.first as Held<T>).sequence);
    }
  }

  /** So does a principal, of whichever of its clients they are. */
  #trimPrincipal({ principal }: ClientEntry<T>): void {
    if (principal === undefined) return;
    const { perPrincipalMax = Infinity, principalBytesMax = Infinity } = this.#limits;
    while (principal.size > perPrincipalMax || (principal.bytes > principalBytesMax && principal.size > 1)) {
      const { entry, sequence } = this.#principals.oldestOf(principal);
      this.expire(entry.client, sequence);
    }
  }

  #trim(): void {
    const { operationsMax, bytesMax = Infinity } = this.#limits;
    while (this.#size > operationsMax || (this.#bytes > bytesMax && this.#size > 1)) {
      const oldest = this.#order.shift() as Held<T>;
      if (isHeld(oldest)) this.expire(oldest.entry.client, oldest.sequence);
    }
    // What has left otherwise is still in the order: at its front mostly, where it is taken out at once.
    for (let next = this.#order.at(0); next !== undefined && !isHeld(next); next = this.#order.at(0)) {
      this.#order.shift();
    }
    if (this.#order.size > 2 * operationsMax) this.#order = new Fifo(this.#order.slice().filter(isHeld));
  }

  /** Second chance: a client that was heard of since it was last looked at goes to the end of the line. */
  #makeRoomForClient(): void {
    for (let looks = 0; looks < LOOKS_MAX && this.#clients.size >= this.#limits.clientsMax; looks += 1) {
      const entry = this.#clientOrder.shift() as ClientEntry<T>;
      const { client } = entry;
      this.#changedClients.add(client);
      if (!entry.isRecent && entry.operations.size === 0) {
        this.#clients.delete(client);
        this.#lastEntry = undefined;
        this.#principals.leave(entry.principal);
        continue;
      }
      // One with operations stays: the bound on those bounds the clients that have some.
      entry.isRecent = false;
      entry.place = this.#nextClientPlace++;
      this.#clientOrder.push(entry);
    }
  }
}

function bytesAbove<T>({ operations }: ClientEntry<T>, acknowledged: number): number {
  return operations.all().reduce((sum, { sequence, bytes }) => (sequence > acknowledged ? sum + bytes : sum), 0);
}

function byPlace(
  [, [a]]: readonly [string, readonly [number, ...unknown[]]],
  [, [b]]: readonly [string, readonly [number, ...unknown[]]],
): number {
  return a - b;
}

/** An operation as its table keeps it. */
interface Placed {
  readonly entry: { readonly client: string };
  readonly sequence: number;
  /** Its place in the order in which operations came. */
  readonly place: number;
}

/** Changes of operations. Nothing is noted before `addAll`. */
class OperationChanges {
  readonly #noted = new Set<OperationId>();
  /** Operations from this place on have come since. */
  #takenUpTo = 0;
  #isNoting = false;

  /** Whether a change of the operation at this place has to be noted: not if it has come since. */
  counts(place: number): boolean {
    return place < this.#takenUpTo && this.#isNoting;
  }

  add(id: OperationId, place: number): void {
    if (this.counts(place)) this.#noted.add(id);
  }

  /** All that there are. */
  addAll(): void {
    this.#noted.clear();
    this.#takenUpTo = 0;
    this.#isNoting = true;
  }

  /** How many there are, as far as known: zero only when there are none. `order` has the operations by their places. */
  sizeIn(order: Fifo<Placed>): number {
    const last = order.at(order.size - 1);
    return this.#noted.size + (this.#isNoting && last !== undefined && last.place >= this.#takenUpTo ? 1 : 0);
  }

  /** Takes up to `max`; of those that have come since, only the ones that are held still. */
  take<P extends Placed>(max: number, order: Fifo<P>, isHeld: (operation: P) => boolean): OperationId[] {
    const taken: OperationId[] = [];
    for (const id of this.#noted) {
      if (taken.length >= max) return taken;
      this.#noted.delete(id);
      taken.push(id);
    }
    if (!this.#isNoting) return taken;
    for (let index = this.#firstNew(order); taken.length < max && index < order.size; index += 1) {
      const operation = order.at(index) as P;
      this.#takenUpTo = operation.place + 1;
      if (isHeld(operation)) taken.push(operationId(operation.entry.client, operation.sequence));
    }
    return taken;
  }

  #firstNew(order: Fifo<Placed>): number {
    let low = 0;
    for (let high = order.size; low < high;) {
      const middle = (low + high) >> 1;
      if ((order.at(middle) as Placed).place < this.#takenUpTo) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}

/** What has left stays in an order up to so many times what is held there, and so many more. */
const LEFT_SHARE = 2;
const LEFT_MIN = 64;

/** The principals of one table. */
class RememberedPrincipals<T> {
  readonly #principals = new Map<string, PrincipalEntry<T>>();

  /** A client comes: whose it is, if its name says so. */
  enter(client: string): PrincipalEntry<T> | undefined {
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

  /** One of its clients is forgotten. */
  leave(principal: PrincipalEntry<T> | undefined): void {
    if (principal === undefined) return;
    principal.clients -= 1;
    if (principal.clients === 0) this.#principals.delete(principal.name);
  }

  /** An operation is held from now on. */
  came(held: Held<T>): void {
    const { principal } = held.entry;
    if (principal === undefined) return;
    principal.order.push(held);
    principal.size += 1;
  }

  /** One of its operations is not held any more. */
  left(principal: PrincipalEntry<T> | undefined): void {
    if (principal === undefined) return;
    principal.size -= 1;
    takeLeft(principal.order);
    if (principal.order.size <= LEFT_SHARE * principal.size + LEFT_MIN) return;
    principal.order = new Fifo(principal.order.slice().filter(isHeld));
  }

  /** The one of its operations that came first, of those that are held; there must be one. */
  oldestOf({ order }: PrincipalEntry<T>): Held<T> {
    takeLeft(order);
    return order.at(0) as Held<T>;
  }
}

/** What has left is at the front mostly. */
function takeLeft<T>(order: Fifo<Held<T>>): void {
  for (let next = order.at(0); next !== undefined && !isHeld(next); next = order.at(0)) order.shift();
}
