/** A network that loses, repeats and reorders calls, and servers that may be away. */
import type {
  CallName,
  PartitionAddress,
  PartitionCalls,
  PartitionPort,
  Refusal,
  SiteView,
} from '../../../src/causal/partition-calls.ts';
import type { Random } from '../../../src/server/service/collections/random.ts';
import type { Timeline } from '../../../src/testing/simulator/timeline.ts';
import { LOCAL_TIMEOUT_MS, REMOTE_TIMEOUT_MS, type CausalRunOptions } from './options.ts';

export interface Servers {
  /** Runs a call at a partition, or returns nothing while it is away. */
  execute<N extends CallName>(
    address: PartitionAddress,
    name: N,
    request: PartitionCalls[N]['request'],
  ): PartitionCalls[N]['reply'] | Refusal | undefined;
  getSiteView(site: number): SiteView | Refusal;
}

export class CausalNetwork {
  readonly counts = new Map<string, number>();
  readonly #options: CausalRunOptions;
  readonly #random: Random;
  readonly #timeline: Timeline;
  readonly #servers: Servers;
  readonly #cutPairs = new Set<string>();
  #isHealed = false;

  constructor(parts: {
    readonly options: CausalRunOptions;
    readonly random: Random;
    readonly timeline: Timeline;
    readonly servers: Servers;
  }) {
    this.#options = parts.options;
    this.#random = parts.random;
    this.#timeline = parts.timeline;
    this.#servers = parts.servers;
  }

  cut(a: number, b: number): void {
    this.#cutPairs.add(toPair(a, b));
  }

  reconnect(a: number, b: number): void {
    this.#cutPairs.delete(toPair(a, b));
  }

  /** From now on nothing is lost, repeated or cut. */
  heal(): void {
    this.#isHealed = true;
    this.#cutPairs.clear();
  }

  createPort(from: number): PartitionPort {
    return {
      call: (address, name, request, onReply) =>
        this.#exchange(from, address.site, {
          execute: () => this.#servers.execute(address, name, request),
          onReply,
        }),
      getSiteView: (site, onReply) =>
        this.#exchange<SiteView | Refusal>(from, site, {
          execute: () => this.#servers.getSiteView(site),
          onReply,
        }),
    };
  }

  /** Runs `execute` at the store of the own site. `onReply` gets nothing if no reply comes. */
  askStore<T extends object>(
    site: number,
    execute: () => T,
    onReply: (reply: T | undefined) => void,
  ): void {
    this.#exchange(site, site, {
      execute,
      onReply: (reply: T | Refusal) => onReply('refused' in reply ? undefined : reply),
    });
  }

  #exchange<T extends object>(
    from: number,
    to: number,
    {
      execute,
      onReply,
    }: { readonly execute: () => T | undefined; readonly onReply: (reply: T | Refusal) => void },
  ): void {
    let isAnswered = false;
    const answer = (reply: T | Refusal): void => {
      if (isAnswered) return;
      isAnswered = true;
      onReply(reply);
    };
    this.#timeline.schedule(from === to ? LOCAL_TIMEOUT_MS : REMOTE_TIMEOUT_MS, () => {
      if (!isAnswered) this.#count('timeouts');
      answer({ refused: 'UNREACHABLE' });
    });
    this.#send(from, to, () => {
      const reply = execute();
      if (reply !== undefined) this.#send(to, from, () => answer(reply));
    });
  }

  #send(from: number, to: number, deliver: () => void): void {
    const { lossChance, repeatChance, localDelayMs, remoteDelayMs } = this.#options;
    const isCut = this.#cutPairs.has(toPair(from, to));
    if (isCut || (!this.#isHealed && this.#random.chance(lossChance))) return this.#count('lost');
    const copies = !this.#isHealed && this.#random.chance(repeatChance) ? 2 : 1;
    if (copies === 2) this.#count('repeated');
    for (let copy = 0; copy < copies; copy += 1) {
      const delayMs = this.#random.exponential(from === to ? localDelayMs : remoteDelayMs);
      this.#timeline.schedule(delayMs, deliver);
    }
  }

  #count(name: string): void {
    this.counts.set(name, (this.counts.get(name) ?? 0) + 1);
  }
}

function toPair(a: number, b: number): string {
  return `${Math.min(a, b)}-${Math.max(a, b)}`;
}
