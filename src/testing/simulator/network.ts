/** A hostile network: delays, losses, duplicates, other orders, partitions of one direction or both. */
import type { Origin } from '../../server/records/origin.ts';
import type { Calm, Timeline } from './timeline.ts';
import type { SimulationOptions } from './options.ts';
import type { Random } from '../../server/collections/random.ts';

/** A message on its way: the bytes of its envelope. */
export interface Sent {
  readonly from: Origin;
  readonly to: Origin;
  /** What sort of message it is: to be counted. */
  readonly kind: string;
  readonly bytes: Uint8Array;
}

type Receive = (sent: Sent) => void;

/** The links between the sites of one run. */
export class HostileNetwork {
  /** Messages sent, by kind; and what became of them on their way, by kind and fate. */
  readonly counts = new Map<string, number>();
  readonly #options: SimulationOptions;
  readonly #random: Random;
  readonly #timeline: Timeline;
  readonly #receive: Receive;
  readonly #calm: Calm;
  readonly #cut = new Set<string>();
  readonly #lastArrivalMs = new Map<string, number>();
  #isHealed = false;
  partitions = 0;

  constructor(options: SimulationOptions, random: Random, timeline: Timeline, receive: Receive, calm: Calm) {
    this.#options = options;
    this.#random = random;
    this.#timeline = timeline;
    this.#receive = receive;
    this.#calm = calm;
    this.#planPartition();
  }

  send(sent: Sent): void {
    const { from, to, kind } = sent;
    this.#count(kind);
    const link = `${from}-${to}`;
    if (this.#cut.has(link)) return this.#lose(kind);
    if (!this.#isHealed && this.#random.chance(this.#options.lossChance)) return this.#lose(kind);
    const copies = !this.#isHealed && this.#random.chance(this.#options.duplicateChance) ? 2 : 1;
    if (copies > 1) this.#count(`${kind} repeated`);
    for (let copy = 0; copy < copies; copy += 1) this.#deliver(link, sent);
  }

  /** From now on nothing is lost, repeated or cut. */
  heal(): void {
    this.#isHealed = true;
    this.#cut.clear();
  }

  /** Whether some site does not hear another one. */
  get isCut(): boolean {
    return this.#cut.size > 0;
  }

  #lose(kind: string): void {
    this.#calm.disturbed();
    this.#count(`${kind} lost`);
  }

  #count(what: string): void {
    this.counts.set(what, (this.counts.get(what) ?? 0) + 1);
  }

  #deliver(link: string, sent: Sent): void {
    const { delayMinMs, delayMeanMs, isOrdered } = this.#options;
    let arrivalMs = this.#timeline.nowMs + delayMinMs + this.#random.exponential(delayMeanMs);
    const lastMs = this.#lastArrivalMs.get(link) ?? 0;
    if (isOrdered) arrivalMs = Math.max(arrivalMs, lastMs);
    const isOvertaking = arrivalMs < lastMs;
    if (isOvertaking) this.#count(`${sent.kind} overtaking`);
    this.#lastArrivalMs.set(link, Math.max(arrivalMs, lastMs));
    this.#timeline.after(arrivalMs - this.#timeline.nowMs, () => {
      if (this.#cut.has(link)) return this.#lose(sent.kind);
      // What comes before its time is not taken, and has to be sent again.
      if (isOvertaking) this.#calm.disturbed();
      this.#receive(sent);
    });
  }

  #planPartition(): void {
    const { partitionEveryMs, siteCount } = this.#options;
    if (partitionEveryMs === Infinity || siteCount === 1) return;
    this.#timeline.after(this.#random.exponential(partitionEveryMs), () => {
      if (this.#isHealed) return;
      this.#partition();
      this.#planPartition();
    });
  }

  /** Links are named by ordinals. */
  #partition(): void {
    const { partitionMeanMs, isPartitionOneWay, isPartitionTotal, siteCount } = this.#options;
    this.partitions += 1;
    const isolated = this.#random.between(1, siteCount);
    const cut: string[] = [];
    for (let other = 1; other <= siteCount; other += 1) {
      if (other === isolated || (!isPartitionTotal && this.#random.chance(0.3))) continue;
      cut.push(`${isolated}-${other}`);
      if (!isPartitionOneWay) cut.push(`${other}-${isolated}`);
    }
    for (const link of cut) this.#cut.add(link);
    this.#timeline.after(this.#random.exponential(partitionMeanMs), () => {
      for (const link of cut) this.#cut.delete(link);
      this.#calm.disturbed();
    });
  }
}
