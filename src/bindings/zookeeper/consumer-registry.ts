/**
 * Finds out which other bindings take from queues and how fast. Each binding writes its throttle
 * into the node that shows that it is alive.
 */
import { CommitLatency } from '../../correctable/throttle/commit-latency.ts';
import {
  computeMaxConcurrentWrites,
  type ConcurrentWriters,
  type Throttle,
} from '../../correctable/throttle/concurrent-writes.ts';
import { replaceErrorWith, isZooKeeperError } from './client/errors.ts';
import type { ZooKeeper } from './client/zookeeper.ts';
import type { Paths } from './paths.ts';
import type { SessionPair } from './session-pair.ts';

interface KnownConsumers {
  readonly reader: ZooKeeper;
  readonly throttles: readonly Throttle[];
}

export class ConsumerRegistry {
  /** The latency of the claims of this binding. */
  readonly commitLatency: CommitLatency = new CommitLatency();
  readonly #sessions: SessionPair;
  readonly #paths: Paths;
  #known: KnownConsumers | undefined;
  #refreshing: Promise<void> | undefined;

  constructor(sessions: SessionPair, paths: Paths) {
    this.#sessions = sessions;
    this.#paths = paths;
  }

  /**
   * The limits of the other writers whose updates an estimate may lack. `undefined` if these are
   * unknown.
   */
  get concurrentWriters(): ConcurrentWriters | undefined {
    const { reader, writer } = this.#sessions;
    if (this.#known?.reader !== reader) {
      void this.refresh();
      return undefined;
    }
    // Claims wait for a connection for an unknown time.
    if (writer.state !== 'connected') return undefined;
    const { throttles } = this.#known;
    const commitLatencyMs =
      throttles.length === 0 ? 0 : this.commitLatency.estimateMs(performance.now());
    return commitLatencyMs === undefined ? undefined : { commitLatencyMs, throttles };
  }

  /** Returns the smallest threshold that is safe now, after the server has caught up. */
  async getMinThreshold(): Promise<number> {
    await this.#sessions.retryLost('reader', (zk) => zk.sync(this.#paths.consumers));
    await this.refresh();
    const { concurrentWriters } = this;
    return concurrentWriters === undefined
      ? Infinity
      : computeMaxConcurrentWrites(concurrentWriters);
  }

  /**
   * Reads the registered bindings unless they are known. If that fails, the next call tries again.
   */
  async refresh(): Promise<void> {
    if (this.#known?.reader === this.#sessions.reader) return;
    this.#refreshing ??= this.#readConsumers(this.#sessions.reader)
      .catch(() => {})
      .finally(() => (this.#refreshing = undefined));
    await this.#refreshing;
  }

  async #readConsumers(reader: ZooKeeper): Promise<void> {
    let isOld = false;
    // Marks the list as outdated. ZooKeeper notifies the watch before a read of this session can
    // show a later state.
    const watch = (): void => {
      isOld = true;
      this.#known = undefined;
    };
    const names = await this.#listConsumers(reader, watch);
    const others = names.filter((name) => name !== this.#sessions.consumerId);
    const throttles = await Promise.all(others.map((name) => this.#readThrottle(reader, name)));
    if (!isOld)
      this.#known = {
        reader,
        throttles: throttles.filter((throttle) => throttle !== undefined),
      };
  }

  async #listConsumers(reader: ZooKeeper, watch: () => void): Promise<readonly string[]> {
    const { consumers } = this.#paths;
    try {
      return (await reader.children(consumers, { watch })).children;
    } catch (error) {
      if (!isZooKeeperError(error, 'NO_NODE')) throw error;
      if ((await reader.exists(consumers, { watch })) !== null) throw error;
      return [];
    }
  }

  /** Returns `undefined` if the binding has gone. */
  async #readThrottle(reader: ZooKeeper, consumer: string): Promise<Throttle | undefined> {
    const node = await reader
      .get(this.#paths.consumer(consumer))
      .catch(replaceErrorWith('NO_NODE', undefined));
    return node && parseThrottle(node.data);
  }
}

/**
 * Returns the throttle in the node of a live binding. If it has none, the binding counts as
 * unlimited.
 */
function parseThrottle(data: Uint8Array | null): Throttle {
  try {
    const { maxInFlight, minSlotIntervalMs } = JSON.parse(
      new TextDecoder().decode(data ?? new Uint8Array(0)),
    ) as Partial<Throttle>;
    if (isNonNegativeNumber(maxInFlight) && isNonNegativeNumber(minSlotIntervalMs))
      return { maxInFlight, minSlotIntervalMs };
  } catch {}
  return { maxInFlight: Infinity, minSlotIntervalMs: 0 };
}

function isNonNegativeNumber(value: unknown): value is number {
  return typeof value === 'number' && value >= 0;
}
