/**
 * A site's own copy of a red log that another store orders: the entries that were taken, those that
 * are synced here, and those that are delivered. Nothing is delivered before it is synced. Nothing
 * behind a record that changes the members is delivered before its site has applied that.
 */
import { Fifo } from '../service/collections/fifo.ts';
import { DEFAULT_MACHINE_SIZES } from './machine-sizes.ts';
import { measureRecord } from '../service/records/memory-bytes.ts';
import type { Origin } from '../service/records/origin.ts';
import type { EntryName } from '../service/records/records.ts';
import { createPrefixDigest, type PrefixDigest } from './prefix-digest.ts';
import type { LogEntry, LogOutput, RedLogOptions, SavedLog } from './red-log.ts';

/** The record of a proposer that comes next, at its latest start. */
export interface ProposerProgress {
  readonly epoch: number;
  readonly next: number;
}

export type LogProgress = ReadonlyMap<Origin, ProposerProgress>;

export interface LogMark {
  readonly position: number;
  readonly digest: number | undefined;
  readonly progress: LogProgress;
}

export class LogCopy<R> {
  readonly #options: RedLogOptions<R>;
  readonly #markEvery: number;
  /** Entries from `delivered` on. */
  readonly #waiting = new Fifo<LogEntry<R>>();
  #waitingBytes = 0;
  #length: number;
  #synced: number;
  #delivered: number;
  readonly #digest: PrefixDigest;
  readonly #progress: Map<Origin, ProposerProgress>;
  readonly #deliveredProgress: Map<Origin, ProposerProgress>;
  /** Places of undelivered entries that may change the members. */
  readonly #changes = new Fifo<number>();
  #isPaused = false;
  #marks: LogMark[];
  #last: EntryName | undefined;
  #lastDelivered: EntryName | undefined;

  constructor({ entries = [], start = 0, saved, ...options }: RedLogOptions<R>, markEvery: number) {
    this.#options = options;
    this.#markEvery = markEvery;
    this.#synced = start + entries.length;
    this.#delivered = this.#length = saved?.delivered ?? 0;
    this.#progress = new Map(
      saved?.progress.map(([origin, epoch, next]) => [origin, { epoch, next }]),
    );
    this.#deliveredProgress = new Map(this.#progress);
    const { createDigest = createPrefixDigest } = options;
    this.#digest = createDigest(this.#delivered, this.#delivered === 0 ? 0 : saved?.digest);
    this.#marks = [this.#createMark()];
    this.#lastDelivered = saved?.last;
    this.#last = entries.at(-1) ?? saved?.last;
    this.append(entries.slice(this.#delivered - start));
  }

  get length(): number {
    return this.#length;
  }

  /** About how many bytes the entries take that are not delivered. */
  get waitingBytes(): number {
    return this.#waitingBytes;
  }

  get delivered(): number {
    return this.#delivered;
  }

  get isBusy(): boolean {
    return this.#delivered < this.#length;
  }

  get progress(): LogProgress {
    return this.#progress;
  }

  get last(): EntryName | undefined {
    return this.#last;
  }

  /** The digests of delivered places, in order. */
  get marks(): readonly LogMark[] {
    return this.#marks;
  }

  /**
   * Returns the digest of the first `length` entries. It is `undefined` if it is unknown, or not
   * kept any more.
   */
  getDigest(length: number): number | undefined {
    return (
      this.#digest.at(length) ?? this.#marks.find(({ position }) => position === length)?.digest
    );
  }

  append(entries: readonly LogEntry<R>[]): void {
    for (const entry of entries) {
      const { origin, epoch, sequence, record } = entry;
      this.#progress.set(origin, { epoch, next: sequence + 1 });
      this.#digest.add(entry, this.#delivered);
      if (this.#options.getMemberChange?.(record) !== undefined) this.#changes.push(this.#length);
      this.#waiting.push(entry);
      this.#waitingBytes += measureRecord(record);
      this.#length += 1;
      this.#last = entry;
    }
  }

  onSynced(length: number): void {
    this.#synced = Math.max(this.#synced, length);
  }

  resume(): void {
    this.#isPaused = false;
  }

  /** Takes the records that can be delivered now. They count as delivered from then on. */
  takeDelivery(): (LogOutput<R> & { readonly kind: 'deliver' }) | undefined {
    const change = this.#changes.at(0) ?? Infinity;
    const end = this.#isPaused ? 0 : Math.min(this.#length, this.#synced, change + 1);
    if (end <= this.#delivered) return undefined;
    const from = this.#delivered;
    const records: R[] = [];
    while (this.#delivered < end) records.push(this.#deliverNext());
    this.#isPaused = end > change;
    if (this.#isPaused) this.#changes.shift();
    return { kind: 'deliver', from, next: end, records };
  }

  save(identity: string): SavedLog {
    const progress = [...this.#deliveredProgress].map(
      ([origin, { epoch, next }]) => [origin, epoch, next] as const,
    );
    const [delivered, digest] = [this.#delivered, this.#digest.at(this.#delivered)];
    const position = { seq: delivered, index: 0 };
    const saved = {
      delivered,
      position,
      identity,
      progress,
      last: this.#lastDelivered,
    };
    return digest === undefined ? saved : { ...saved, digest };
  }

  #deliverNext(): R {
    const { origin, epoch, sequence, record } = this.#waiting.shift() as LogEntry<R>;
    this.#waitingBytes -= measureRecord(record);
    this.#lastDelivered = { origin, epoch, sequence };
    this.#deliveredProgress.set(origin, { epoch, next: sequence + 1 });
    this.#delivered += 1;
    if (this.#delivered % this.#markEvery === 0) this.#marks.push(this.#createMark());
    const { maxMarks, onExceeded } = this.#options.sizes ?? DEFAULT_MACHINE_SIZES;
    if (this.#marks.length > maxMarks) {
      onExceeded?.('maxMarks');
      this.#marks = this.#marks.filter((_, place) => place % 2 === 0);
    }
    return record;
  }

  #createMark(): LogMark {
    const progress = new Map(this.#deliveredProgress);
    return {
      position: this.#delivered,
      digest: this.#digest.at(this.#delivered),
      progress,
    };
  }
}
