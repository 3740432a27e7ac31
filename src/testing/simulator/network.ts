/**
 * A hostile network: delays, losses, duplicates, reordering, partitions in one or both directions.
 */
import type { Origin } from '../../server/service/records/origin.ts';
import type { HealthyPeriods, Timeline } from './timeline.ts';
import type { SimulationOptions } from './options.ts';
import type { Random } from '../../server/service/collections/random.ts';

/** A message in flight: the bytes of its envelope. */
export interface SentMessage {
  readonly from: Origin;
  readonly to: Origin;
  /** The kind of the message, for statistics. */
  readonly kind: string;
  readonly bytes: Uint8Array;
}

/** One direction between two sites. */
export interface Link {
  readonly from: Origin;
  readonly to: Origin;
}

/**
 * What became of a copy of a message. `cut`: a partition was in the way when it was sent, or when
 * it should have arrived.
 */
export interface MessageEnd {
  readonly message: SentMessage;
  readonly sentAtMs: number;
  readonly fate: 'delivered' | 'lost' | 'cut';
}

/** The events of a network. */
export interface NetworkListener {
  receive(sent: SentMessage): void;
  /** Called when a copy of a message arrives, before `receive`, or is lost. */
  onMessageEnd(end: MessageEnd): void;
  onLinksCut(links: readonly Link[]): void;
  onLinksRestored(links: readonly Link[]): void;
}

/** The kind of messages with blue operations. */
const BLUE_OPERATIONS = 'blue.operations';

/**
 * The random numbers of a network. Comparisons of rows have their own, so that they change nothing
 * of what becomes of other messages.
 */
export interface NetworkRandom {
  readonly all: Random;
  readonly rows: Random;
}

function isAboutRows(kind: string): boolean {
  return kind.startsWith('rows.');
}

export class HostileNetwork {
  /** The number of sent messages by kind, and by kind and fate. */
  readonly stats = new Map<string, number>();
  readonly #options: SimulationOptions;
  readonly #random: Random;
  readonly #rowsRandom: Random;
  readonly #timeline: Timeline;
  readonly #listener: NetworkListener;
  readonly #healthyPeriods: HealthyPeriods;
  readonly #cutLinks = new Map<string, Link>();
  /** The sites that partitions may cut off. */
  readonly #sites: Origin[];
  readonly #lastArrivalMs = new Map<string, number>();
  /** The site whose blue operations come late. */
  #slowSite: Origin | undefined;
  #isHealed = false;
  /** How often all links were closed. */
  #closings = 0;
  partitions = 0;

  constructor(
    options: SimulationOptions,
    random: NetworkRandom,
    timeline: Timeline,
    listener: NetworkListener,
    calm: HealthyPeriods,
  ) {
    this.#options = options;
    this.#random = random.all;
    this.#rowsRandom = random.rows;
    this.#timeline = timeline;
    this.#listener = listener;
    this.#healthyPeriods = calm;
    this.#sites = Array.from({ length: options.siteCount }, (_, place) => (place + 1) as Origin);
    this.#planPartition();
  }

  addSite(site: Origin): void {
    this.#sites.push(site);
  }

  send(sent: SentMessage): void {
    const { from, kind } = sent;
    const { nowMs } = this.#timeline;
    this.#count(kind);
    const link = formatLink(sent);
    if (this.#cutLinks.has(link)) return this.#lose(sent, nowMs, 'cut');
    const random = this.#getRandom(kind);
    if (!this.#isHealed && random.chance(this.#options.lossChance))
      return this.#lose(sent, nowMs, 'lost');
    const copies = !this.#isHealed && random.chance(this.#options.duplicateChance) ? 2 : 1;
    if (copies > 1) this.#count(`${kind} repeated`);
    const isSlow = from === this.#slowSite && kind === BLUE_OPERATIONS && !this.#isHealed;
    for (let copy = 0; copy < copies; copy += 1) this.#deliver(link, sent, isSlow);
  }

  /** The blue operations that this site sends come late, until it heals. */
  slowStreamsOf(site: Origin): void {
    this.#slowSite = site;
  }

  /** From now on nothing is lost, repeated or cut. */
  heal(): void {
    this.#isHealed = true;
    this.#restore([...this.#cutLinks.values()]);
  }

  /** Forgets all messages in flight. */
  closeLinks(): void {
    this.#closings += 1;
  }

  get isCut(): boolean {
    return this.#cutLinks.size > 0;
  }

  #lose(message: SentMessage, sentAtMs: number, fate: 'lost' | 'cut'): void {
    // No operation waits for a comparison.
    if (!isAboutRows(message.kind)) this.#healthyPeriods.onDisturbed();
    this.#count(`${message.kind} lost`);
    this.#listener.onMessageEnd({ message, sentAtMs, fate });
  }

  #getRandom(kind: string): Random {
    return isAboutRows(kind) ? this.#rowsRandom : this.#random;
  }

  #count(description: string): void {
    this.stats.set(description, (this.stats.get(description) ?? 0) + 1);
  }

  #deliver(link: string, sent: SentMessage, isSlow: boolean): void {
    const { minDelayMs, delayMeanMs, isOrdered, slowStreamMs } = this.#options;
    const sentAtMs = this.#timeline.nowMs;
    const delayMs = this.#getRandom(sent.kind).exponential(delayMeanMs);
    let arrivalMs = sentAtMs + minDelayMs + delayMs;
    if (isSlow) arrivalMs += this.#random.exponential(slowStreamMs);
    // Other messages do not wait for slow ones, nor for comparisons of rows.
    const order = isSlow || isAboutRows(sent.kind) ? `${link} ${sent.kind}` : link;
    const lastMs = this.#lastArrivalMs.get(order) ?? 0;
    if (isOrdered) arrivalMs = Math.max(arrivalMs, lastMs);
    const isOvertaking = arrivalMs < lastMs;
    if (isOvertaking) this.#count(`${sent.kind} overtaking`);
    this.#lastArrivalMs.set(order, Math.max(arrivalMs, lastMs));
    const closings = this.#closings;
    this.#timeline.schedule(arrivalMs - sentAtMs, () => {
      if (this.#cutLinks.has(link) || this.#closings !== closings)
        return this.#lose(sent, sentAtMs, 'cut');
      // A message that arrives too early is not accepted, and has to be sent again.
      if (isOvertaking && !isAboutRows(sent.kind)) this.#healthyPeriods.onDisturbed();
      this.#listener.onMessageEnd({
        message: sent,
        sentAtMs,
        fate: 'delivered',
      });
      this.#listener.receive(sent);
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
    const { partitionMeanMs, isPartitionOneWay, isPartitionTotal } = this.#options;
    this.partitions += 1;
    const isolated = this.#sites[this.#random.between(0, this.#sites.length - 1)] as Origin;
    const cut: Link[] = [];
    for (const other of this.#sites) {
      if (other === isolated || (!isPartitionTotal && this.#random.chance(0.3))) continue;
      cut.push({ from: isolated, to: other });
      if (!isPartitionOneWay) cut.push({ from: other, to: isolated });
    }
    for (const link of cut) this.#cutLinks.set(formatLink(link), link);
    this.#listener.onLinksCut(cut);
    this.#timeline.schedule(this.#random.exponential(partitionMeanMs), () => {
      this.#restore(cut);
      this.#healthyPeriods.onDisturbed();
    });
  }

  #restore(links: readonly Link[]): void {
    for (const link of links) this.#cutLinks.delete(formatLink(link));
    this.#listener.onLinksRestored(links);
  }
}

function formatLink({ from, to }: Link): string {
  return `${from}-${to}`;
}
