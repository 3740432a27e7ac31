/**
 * The partition port of a store in this process. Calls within a site are executed at once, and
 * calls to other sites after a delay.
 */
import { isRefusal, type PartitionPort } from '../../causal/partition-calls.ts';
import type { CausalSite } from '../../causal/causal-site.ts';
import type { Partition } from '../../causal/partition.ts';
import type { SiteIndex, Stamp } from '../../causal/stamps.ts';
import type { Clock, Timer } from '../../correctable/clock.ts';

export interface NetworkParts {
  readonly clock: Clock;
  readonly delaysMs: readonly (readonly number[])[];
  /** The clock of all partitions, in microseconds since the epoch. */
  readonly getNow: () => Stamp;
  readonly getPartition: (site: SiteIndex, partition: number) => Partition;
  readonly getSite: (site: SiteIndex) => CausalSite;
}

export class SiteNetwork {
  readonly #parts: NetworkParts;
  readonly #cutLinks = new Set<string>();
  readonly #timers = new Set<Timer>();

  constructor(parts: NetworkParts) {
    this.#parts = parts;
  }

  /** Sets whether messages between the two sites arrive. If not, they are lost. */
  setConnected(a: SiteIndex, b: SiteIndex, isConnected: boolean): void {
    for (const link of [toLink(a, b), toLink(b, a)]) {
      if (isConnected) this.#cutLinks.delete(link);
      else this.#cutLinks.add(link);
    }
  }

  /** Returns the port of the gateway of `from`. */
  createPort(from: SiteIndex): PartitionPort {
    const { getPartition, getSite, getNow } = this.#parts;
    return {
      call: (address, name, request, onReply) => {
        const execute = () => {
          const partition = getPartition(address.site, address.partition);
          return partition.execute(name, request, getNow());
        };
        this.#send({ from, to: address.site }, execute, onReply);
      },
      getSiteView: (site, onReply) =>
        this.#send({ from, to: site }, () => getSite(site).getView(), onReply),
    };
  }

  /** Drops all messages in flight. */
  close(): void {
    for (const timer of this.#timers) timer.cancel();
    this.#timers.clear();
  }

  #send<T extends object>(
    { from, to }: Link,
    execute: () => T,
    onReply: (reply: T | { readonly refused: 'UNREACHABLE' }) => void,
  ): void {
    if (from === to) return onReply(execute());
    this.#delay(from, to, () => {
      // A cut link answers as fast as a working one, so that a demo waits for no timeout.
      const reply = this.#isCut(from, to) ? ({ refused: 'UNREACHABLE' } as const) : execute();
      this.#delay(to, from, () => {
        if (this.#isCut(from, to) && !isRefusal(reply)) onReply({ refused: 'UNREACHABLE' });
        else onReply(reply);
      });
    });
  }

  #isCut(from: SiteIndex, to: SiteIndex): boolean {
    return this.#cutLinks.has(toLink(from, to));
  }

  #delay(from: SiteIndex, to: SiteIndex, run: () => void): void {
    const delayMs = this.#parts.delaysMs[from]?.[to] ?? 0;
    if (delayMs === 0) return run();
    const timer = this.#parts.clock.setTimer(() => {
      this.#timers.delete(timer);
      run();
    }, delayMs);
    this.#timers.add(timer);
  }
}

interface Link {
  readonly from: SiteIndex;
  readonly to: SiteIndex;
}

const toLink = (from: SiteIndex, to: SiteIndex): string => `${from}-${to}`;
