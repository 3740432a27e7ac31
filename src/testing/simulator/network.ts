/**
 * A hostile network: delays, losses, duplicates, reordering, partitions in one
 * or both directions.
 */
import type { Origin } from '../../server/records/origin.ts';
import type { HealthyPeriods, Timeline } from './timeline.ts';
import type { SimulationOptions } from './options.ts';
import type { Random } from '../../server/collections/random.ts';

/** A message in flight: the bytes of its envelope. */
export interface SentMessage {
  readonly from: Origin;
  readonly to: Origin;
  /** The kind of the message, for statistics. */
  readonly kind: string;
  readonly bytes: Uint8Array;
}

/** The kind of messages with blue operations. */
const BLUE_OPERATIONS = 'blue.operations';

type Receive = (sent: SentMessage) => void;

export class HostileNetwork {
  /** The number of sent messages by kind, and by kind and fate. */
  readonly stats = new Map<string, number>();
  readonly #options: SimulationOptions;
  readonly #random: Random;
  readonly #timeline: Timeline;
  readonly #receive: Receive;
  readonly #healthyPeriods: HealthyPeriods;
  readonly #cutLinks = new Set<string>();
  /** The sites that partitions may cut off. */
  readonly #sites: Origin[];
  readonly #lastArrivalMs = new Map<string, number>();
  /** The site whose blue operations come late. */
  #slowSite: Origin | undefined;
  #isHealed = false;
  partitions = 0;

  constructor(
    options: SimulationOptions,
    random: Random,
    timeline: Timeline,
    receive: Receive,
    calm: HealthyPeriods,
  ) {
    this.#options = options;
    this.#random = random;
    this.#timeline = timeline;
    this.#receive = receive;
    this.#healthyPeriods = calm;
    this.#sites = Array.from(
      { length: options.siteCount },
      (_, place) => (place + 1) as Origin,
    );
    this.#planPartition();
  }

  addSite(site: Origin): void {
    this.#sites.push(site);
  }

  send(sent: SentMessage): void {
    const { from, to, kind } = sent;
    this.#count(kind);
    const link = `${from}-${to}`;
    if (this.#cutLinks.has(link)) return this.#lose(kind);
    if (!this.#isHealed && this.#random.chance(this.#options.lossChance))
      return this.#lose(kind);
    const copies =
      !this.#isHealed && this.#random.chance(this.#options.duplicateChance)
        ? 2
        : 1;
    if (copies > 1) this.#count(`${kind} repeated`);
    const isSlow =
      from === this.#slowSite && kind === BLUE_OPERATIONS && !this.#isHealed;
    for (let copy = 0; copy < copies; copy += 1)
      this.#deliver(link, sent, isSlow);
  }

  /** The blue operations that this site sends come late, until it heals. */
  slowStreamsOf(site: Origin): void {
    this.#slowSite = site;
  }

  /** From now on nothing is lost, repeated or cut. */
  heal(): void {
    this.#isHealed = true;
    this.#cutLinks.clear();
  }

  get isCut(): boolean {
    return this.#cutLinks.size > 0;
  }

  #lose(kind: string): void {
    this.#healthyPeriods.onDisturbed();
    this.#count(`${kind} lost`);
  }

  #count(description: string): void {
    this.stats.set(description, (this.stats.get(description) ?? 0) + 1);
  }

  #deliver(link: string, sent: SentMessage, isSlow: boolean): void {
    const { minDelayMs, delayMeanMs, isOrdered, slowStreamMs } = this.#options;
    let arrivalMs =
      this.#timeline.nowMs + minDelayMs + this.#random.exponential(delayMeanMs);
    if (isSlow) arrivalMs += this.#random.exponential(slowStreamMs);
    // Other messages do not wait for slow ones.
    const order = isSlow ? `${link} ${sent.kind}` : link;
    const lastMs = this.#lastArrivalMs.get(order) ?? 0;
    if (isOrdered) arrivalMs = Math.max(arrivalMs, lastMs);
    const isOvertaking = arrivalMs < lastMs;
    if (isOvertaking) this.#count(`${sent.kind} overtaking`);
    this.#lastArrivalMs.set(order, Math.max(arrivalMs, lastMs));
    this.#timeline.schedule(arrivalMs - this.#timeline.nowMs, () => {
      if (this.#cutLinks.has(link)) return this.#lose(sent.kind);
      // A message that arrives too early is not accepted, and has to be sent
      // again.
      if (isOvertaking) this.#healthyPeriods.onDisturbed();
      this.#receive(sent);
    });
  }

  #planPartition(): void {
    const { partitionEveryMs, siteCount } = this.#options;
    if (partitionEveryMs === Infinity || siteCount === 1) return;
    this.#timeline.schedule(this.#random.exponential(partitionEveryMs), () => {
      if (this.#isHealed) return;
      this.#partition();
      this.#planPartition();
    });
  }

  /** Ordinals identify links. */
  #partition(): void {
    const { partitionMeanMs, isPartitionOneWay, isPartitionTotal } =
      this.#options;
    this.partitions += 1;
    const isolated = this.#sites[
      this.#random.between(0, this.#sites.length - 1)
    ] as Origin;
    const cut: string[] = [];
    for (const other of this.#sites) {
      if (other === isolated || (!isPartitionTotal && this.#random.chance(0.3)))
        continue;
      cut.push(`${isolated}-${other}`);
      if (!isPartitionOneWay) cut.push(`${other}-${isolated}`);
    }
    for (const link of cut) this.#cutLinks.add(link);
    this.#timeline.schedule(this.#random.exponential(partitionMeanMs), () => {
      for (const link of cut) this.#cutLinks.delete(link);
      this.#healthyPeriods.onDisturbed();
    });
  }
}
