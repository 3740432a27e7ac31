/** A hostile network: delays, losses, duplicates, other orders, partitions of one direction or both. */
import type { SiteMessage } from '../../server/site/site-machine.ts';
import type { SimulationOptions } from './options.ts';
import type { Random } from './random.ts';
import type { Timeline } from './timeline.ts';

type Receive = (to: number, from: number, message: SiteMessage, sentAtMs: number) => void;

/** The links between the sites of one run. */
export class HostileNetwork {
  /** Messages sent, by kind. */
  readonly sent = new Map<string, number>();
  readonly #options: SimulationOptions;
  readonly #random: Random;
  readonly #timeline: Timeline;
  readonly #receive: Receive;
  readonly #cut = new Set<string>();
  readonly #lastArrivalMs = new Map<string, number>();
  #isHealed = false;
  partitions = 0;

  constructor(options: SimulationOptions, random: Random, timeline: Timeline, receive: Receive) {
    this.#options = options;
    this.#random = random;
    this.#timeline = timeline;
    this.#receive = receive;
    this.#planPartition();
  }

  /** @param sentAtMs what the sender's clock shows */
  send(from: number, to: number, message: SiteMessage, sentAtMs: number): void {
    this.sent.set(message.kind, (this.sent.get(message.kind) ?? 0) + 1);
    const link = `${from}-${to}`;
    if (this.#cut.has(link)) return;
    if (!this.#isHealed && this.#random.chance(this.#options.lossChance)) return;
    const copies = !this.#isHealed && this.#random.chance(this.#options.duplicateChance) ? 2 : 1;
    for (let copy = 0; copy < copies; copy += 1) this.#deliver(link, () => this.#receive(to, from, message, sentAtMs));
  }

  /** From now on nothing is lost, repeated or cut. */
  heal(): void {
    this.#isHealed = true;
    this.#cut.clear();
  }

  #deliver(link: string, receive: () => void): void {
    const { delayMinMs, delayMeanMs, isOrdered } = this.#options;
    let arrivalMs = this.#timeline.nowMs + delayMinMs + this.#random.exponential(delayMeanMs);
    if (isOrdered) arrivalMs = Math.max(arrivalMs, this.#lastArrivalMs.get(link) ?? 0);
    this.#lastArrivalMs.set(link, arrivalMs);
    this.#timeline.after(arrivalMs - this.#timeline.nowMs, () => {
      if (!this.#cut.has(link)) receive();
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

  #partition(): void {
    const { partitionMeanMs, isPartitionOneWay, isPartitionTotal, siteCount } = this.#options;
    this.partitions += 1;
    const isolated = this.#random.between(0, siteCount - 1);
    const cut: string[] = [];
    for (let other = 0; other < siteCount; other += 1) {
      if (other === isolated || (!isPartitionTotal && this.#random.chance(0.3))) continue;
      cut.push(`${isolated}-${other}`);
      if (!isPartitionOneWay) cut.push(`${other}-${isolated}`);
    }
    for (const link of cut) this.#cut.add(link);
    this.#timeline.after(this.#random.exponential(partitionMeanMs), () => {
      for (const link of cut) this.#cut.delete(link);
    });
  }
}
