/** The blue stream of a site, as its sender and as its receivers keep it. */
import { Fifo } from '../log/fifo.ts';
import type { BlueOperation } from './records.ts';

/** What a site has received of a stream (its own included), and what of it waits to become visible. */
export class IncomingStream {
  /** Synced operations that are not yet applied, in order. */
  readonly waiting: Fifo<BlueOperation> = new Fifo();
  #received = 0;
  #synced = 0;

  /** The last operation received, synced or not. */
  get received(): number {
    return this.#received;
  }

  /** The last operation of which all up to it are synced. */
  get synced(): number {
    return this.#synced;
  }

  /** The last operation applied. */
  get applied(): number {
    return this.#synced - this.waiting.size;
  }

  takeNext(): number {
    this.#received += 1;
    return this.#received;
  }

  onSynced(operation: BlueOperation): void {
    this.#synced = operation.sequence;
    this.waiting.push(operation);
  }

  restore(operation: BlueOperation): void {
    this.#received = operation.sequence;
    this.onSynced(operation);
  }
}

/** The synced operations of a site's own stream that some other site may still lack. */
export class OutgoingStream {
  readonly #site: number;
  readonly #kept = new Fifo<BlueOperation>();
  readonly #acknowledged: number[];
  readonly #movedAtMs: number[];
  #last = 0;

  constructor(siteCount: number, site: number) {
    this.#site = site;
    this.#acknowledged = Array.from({ length: siteCount }, () => 0);
    this.#movedAtMs = Array.from({ length: siteCount }, () => 0);
  }

  /** The last synced operation. */
  get last(): number {
    return this.#last;
  }

  /** The last operation that some other site has synced. */
  get farthest(): number {
    return Math.max(0, ...this.#others(this.#acknowledged));
  }

  get isBehind(): boolean {
    return this.#others(this.#acknowledged).some((sequence) => sequence < this.#last);
  }

  add(operation: BlueOperation, nowMs: number): void {
    for (const [site, sequence] of this.#acknowledged.entries()) {
      if (sequence === this.#last) this.#movedAtMs[site] = nowMs;
    }
    this.#last = operation.sequence;
    if (this.#acknowledged.length > 1) this.#kept.push(operation);
  }

  acknowledge(site: number, sequence: number, nowMs: number): void {
    if (sequence <= (this.#acknowledged[site] ?? 0)) return;
    this.#acknowledged[site] = sequence;
    this.#movedAtMs[site] = nowMs;
    const everywhere = Math.min(...this.#others(this.#acknowledged));
    while ((this.#kept.at(0)?.sequence ?? Infinity) <= everywhere) this.#kept.shift();
  }

  /** The operations after the one called `sequence`. */
  after(sequence: number): BlueOperation[] {
    const first = this.#kept.at(0)?.sequence ?? 0;
    return this.#kept.slice(Math.max(0, sequence + 1 - first));
  }

  /** The sites that lack something and have not got on for `silentMs`; each is named once per such time. */
  takeSilent(nowMs: number, silentMs: number): number[] {
    const silent: number[] = [];
    for (const [site, sequence] of this.#acknowledged.entries()) {
      if (site === this.#site || sequence >= this.#last || nowMs - (this.#movedAtMs[site] ?? 0) < silentMs) continue;
      this.#movedAtMs[site] = nowMs;
      silent.push(site);
    }
    return silent;
  }

  #others(values: readonly number[]): number[] {
    return values.filter((_, site) => site !== this.#site);
  }
}
