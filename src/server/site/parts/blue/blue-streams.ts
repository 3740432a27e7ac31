/** One blue stream as a site receives it, and as it passes it on. */
import { Fifo } from '../../../service/collections/fifo.ts';
import {
  createPrefixDigest,
  type DigestFactory,
  type PrefixDigest,
} from '../../../log/prefix-digest.ts';
import { measureRecord } from '../../../service/records/memory-bytes.ts';
import type { Origin } from '../../../service/records/origin.ts';
import type { BlueOperation, StreamPoint } from '../../../service/records/records.ts';

/** An incoming stream as it is saved. */
export interface SavedStream {
  readonly synced: number;
  readonly waiting: readonly BlueOperation[];
  /** The digest of the operations before those that wait. */
  readonly digest?: number | undefined;
}

/** A blue operation and its position in the site's own log. */
export interface LoggedOperation {
  readonly operation: BlueOperation;
  readonly position: number;
}

interface RetainedOperation extends LoggedOperation {
  /** About how many bytes it takes in memory. */
  readonly bytes: number;
}

/**
 * The part of a stream that a site has received, its own stream included, and the operations of it
 * that are not visible yet.
 */
export class IncomingStream {
  /** Synced operations that are not yet applied, in order. */
  readonly waiting: Fifo<BlueOperation> = new Fifo();
  /**
   * About how many bytes the first of them take in memory. Almost all operations are applied in the
   * turn in which they are synced, so only those are measured that have waited for longer.
   */
  readonly #waitingSizes = new Fifo<number>();
  #waitingBytes = 0;
  /** Sites that no longer keep the operation that comes next here. */
  readonly #gone = new Set<Origin>();
  #received = 0;
  #synced = 0;
  /** The last operation of the stream that another site has reported. */
  #announced = 0;
  /** The last operation that was requested, and when that was or when the last operation came. */
  #requestedUpTo = 0;
  #movedAtMs = -Infinity;
  readonly #createDigest: DigestFactory;
  #digest: PrefixDigest;
  /** The last operation that was sent, if this is the own stream. */
  sent = Infinity;

  constructor(createDigest: DigestFactory = createPrefixDigest) {
    this.#createDigest = createDigest;
    this.#digest = createDigest(0, 0);
  }

  /** Another site reports that the stream has reached this operation. */
  noteAnnounced(sequence: number): void {
    this.#announced = Math.max(this.#announced, sequence);
  }

  /** The stream ends with this operation, even if more was reported. */
  endAt(sequence: number): void {
    this.#announced = Math.min(this.#announced, sequence);
  }

  /**
   * Whether to request the operations after `received`, up to `window` of them. It is so if some
   * are lacking, and all that were requested have come, or nothing has come for `silentMs`. Without
   * this each message beyond a gap would request everything again.
   */
  takeRequest(nowMs: number, silentMs: number, window: number): boolean {
    if (this.#announced <= this.#received) return false;
    if (this.#received < this.#requestedUpTo && nowMs - this.#movedAtMs < silentMs) return false;
    this.#requestedUpTo = this.#received + window;
    this.#movedAtMs = nowMs;
    return true;
  }

  /**
   * A site no longer keeps the operations after `after`. Returns whether they are lacking here, so
   * that another site has to be asked.
   */
  noteGone(site: Origin, after: number): boolean {
    if (after !== this.#received || this.#announced <= this.#received) return false;
    this.#gone.add(site);
    this.#requestedUpTo = 0;
    return true;
  }

  /** Whether none of these sites keeps the operation that comes next here. */
  isGoneAt(sites: readonly Origin[]): boolean {
    return this.#gone.size > 0 && sites.every((site) => this.#gone.has(site));
  }

  /** Returns one of these sites that may keep the operation that comes next. */
  findKeeper(sites: readonly Origin[]): Origin | undefined {
    return sites.find((site) => !this.#gone.has(site));
  }

  /** The last operation received, synced or not. */
  get received(): number {
    return this.#received;
  }

  /** The last operation up to which all are synced. */
  get synced(): number {
    return this.#synced;
  }

  /** The last operation applied. */
  get applied(): number {
    return this.#synced - this.waiting.size;
  }

  /** The end of the stream here, synced or not. */
  get end(): StreamPoint {
    return { length: this.#received, digest: this.#digest.at(this.#received) };
  }

  /** Returns the digest of this number of first operations. */
  getDigest(length: number): number | undefined {
    return this.#digest.at(length);
  }

  /** Takes the operation that comes next. */
  take(operation: BlueOperation, nowMs: number): void {
    this.#received = operation.sequence;
    this.#movedAtMs = nowMs;
    if (this.#gone.size > 0) this.#gone.clear();
    this.#digest.addOperation(operation, Math.min(this.applied, this.sent));
  }

  /** Takes the first operation that waits. It is applied. */
  shiftWaiting(): void {
    this.waiting.shift();
    if (this.#waitingSizes.size > 0) this.#waitingBytes -= this.#waitingSizes.shift() ?? 0;
  }

  /** Returns about how many bytes the operations take in memory that wait at the end of a turn. */
  measureWaiting(): number {
    for (let index = this.#waitingSizes.size; index < this.waiting.size; index += 1) {
      const bytes = measureRecord(this.waiting.at(index));
      this.#waitingSizes.push(bytes);
      this.#waitingBytes += bytes;
    }
    return this.#waitingBytes;
  }

  onSynced(operation: BlueOperation): void {
    this.#synced = operation.sequence;
    this.waiting.push(operation);
  }

  restore(operation: BlueOperation): void {
    this.take(operation, -Infinity);
    this.onSynced(operation);
  }

  save(): SavedStream {
    return {
      synced: this.#synced,
      waiting: this.waiting.slice(),
      digest: this.#digest.at(this.applied),
    };
  }

  load({ synced, waiting, digest }: SavedStream): void {
    const applied = synced - waiting.length;
    this.#digest = this.#createDigest(applied, digest);
    for (const operation of waiting) {
      this.waiting.push(operation);
      this.#digest.addOperation(operation, applied);
    }
    this.#synced = synced;
    this.#received = synced;
  }
}

/**
 * The synced operations of one stream that another site may still lack. They are kept for all
 * streams, since a site has to pass them on if their origin is gone.
 */
export class OutgoingStream {
  /** Consecutive operations. */
  #retained = new Fifo<RetainedOperation>();
  #retainedBytes = 0;
  /** By receiver: the last operation that it has synced. */
  readonly #acknowledged = new Map<Origin, number>();
  readonly #movedAtMs = new Map<Origin, number>();
  #last = 0;

  /**
   * Sets the sites that need the stream: all but its origin, this one, and those that were left
   * behind.
   */
  setReceivers(receivers: readonly Origin[]): void {
    for (const site of this.#acknowledged.keys())
      if (!receivers.includes(site)) this.#acknowledged.delete(site);
    // It is unknown what a new receiver has: all operations are kept for it from now on.
    for (const site of receivers)
      if (!this.#acknowledged.has(site)) this.#acknowledged.set(site, 0);
    this.#forgetAcknowledged();
  }

  /** About how many bytes the retained operations take in memory. */
  get retainedBytes(): number {
    return this.#retainedBytes;
  }

  /** The last synced operation. */
  get last(): number {
    return this.#last;
  }

  /** The last operation that some other site has synced. */
  get maxAcknowledged(): number {
    return Math.max(0, ...this.#acknowledged.values());
  }

  get isBehind(): boolean {
    for (const sequence of this.#acknowledged.values()) if (sequence < this.#last) return true;
    return false;
  }

  /** The position of the first retained operation in the site's own log. */
  get retainedFrom(): number | undefined {
    return this.#retained.first?.position;
  }

  /** After a restart: restores the end of the stream, and the operations that others may lack. */
  load(last: number, retained: readonly LoggedOperation[]): void {
    this.#last = last;
    if (this.#acknowledged.size > 0)
      for (const item of retained) this.#retain(item.operation, item.position);
  }

  add(operation: BlueOperation, position: number, nowMs: number): void {
    let isNeeded = false;
    for (const [site, sequence] of this.#acknowledged) {
      if (sequence === this.#last) this.#movedAtMs.set(site, nowMs);
      if (sequence < operation.sequence) isNeeded = true;
    }
    this.#last = Math.max(this.#last, operation.sequence);
    if (isNeeded) this.#retain(operation, position);
  }

  /**
   * The log has a gap in a stream if its site took the state of another one. Operations before a
   * gap are not passed on.
   */
  #retain(operation: BlueOperation, position: number): void {
    const last = this.#lastRetained;
    if (operation.sequence <= last) return;
    if (operation.sequence > last + 1) {
      this.#retained = new Fifo();
      this.#retainedBytes = 0;
    }
    const bytes = measureRecord(operation);
    this.#retained.push({ operation, position, bytes });
    this.#retainedBytes += bytes;
  }

  get #lastRetained(): number {
    return this.#retained.at(this.#retained.size - 1)?.operation.sequence ?? 0;
  }

  acknowledge(site: Origin, sequence: number, nowMs: number): void {
    if (sequence <= (this.#acknowledged.get(site) ?? Infinity)) return;
    this.#acknowledged.set(site, sequence);
    this.#movedAtMs.set(site, nowMs);
    this.#forgetAcknowledged();
  }

  #forgetAcknowledged(): void {
    const everywhere = Math.min(...this.#acknowledged.values());
    while (this.#retained.size > 0 && (this.#retained.first?.operation.sequence ?? 0) <= everywhere)
      this.#retainedBytes -= this.#retained.shift()?.bytes ?? 0;
  }

  /** Returns the number of retained operations that a receiver lacks. */
  getBacklog(site: Origin): number {
    return Math.min(this.#retained.size, this.#last - (this.#acknowledged.get(site) ?? this.#last));
  }

  /** The last operation that a receiver has confirmed. */
  getAcknowledged(site: Origin): number {
    return this.#acknowledged.get(site) ?? 0;
  }

  /** Whether the operation after this sequence number is retained. */
  hasAfter(sequence: number): boolean {
    return (
      sequence < this.#lastRetained &&
      (this.#retained.first?.operation.sequence ?? Infinity) <= sequence + 1
    );
  }

  /** Returns up to `max` operations after this sequence number. */
  getAfter(sequence: number, max: number): BlueOperation[] {
    const first = this.#retained.first?.operation.sequence ?? 0;
    const from = Math.max(0, sequence + 1 - first);
    return this.#retained.slice(from, from + max).map(({ operation }) => operation);
  }

  /**
   * Whether a site lacks so much that new operations are not sent to it. It requests them once it
   * is back.
   */
  isFarBehind(site: Origin, window: number): boolean {
    return this.#last - (this.#acknowledged.get(site) ?? 0) > window;
  }

  /**
   * Returns the sites that lack operations and have not advanced for `silentMs`. Each site is
   * returned once in that time.
   */
  takeSilentSites(nowMs: number, silentMs: number): Origin[] {
    const silent: Origin[] = [];
    for (const [site, sequence] of this.#acknowledged) {
      if (sequence >= this.#last || nowMs - (this.#movedAtMs.get(site) ?? 0) < silentMs) continue;
      this.#movedAtMs.set(site, nowMs);
      silent.push(site);
    }
    return silent;
  }
}
