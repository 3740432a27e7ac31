/** Producers and consumers on one queue, writing down what they see. */
import { createClient, isCorrectableError, type Client } from '../../../src/index.ts';
import {
  zookeeper,
  type ZooKeeperBindingOptions,
  type ZooKeeperLevels,
} from '../../../src/bindings/zookeeper/index.ts';
import { dequeue, enqueue } from '../../../src/operations/index.ts';
import type { QueueEvent } from './queue-history.ts';

type Store = Client<ZooKeeperLevels>;

export interface Workload {
  readonly queue: string;
  readonly producers: number;
  readonly consumers: number;
  readonly items: number;
  /** The options of each client's binding. */
  readonly binding: (client: number) => ZooKeeperBindingOptions;
  /** How many dequeues each consumer has under way at a time; one unless given. */
  readonly inFlight?: number;
  /** Runs beside the work until it is over; is told to end once all has been put in. */
  readonly fault?: (signal: AbortSignal) => Promise<void>;
  /** A pause of each client between two operations, so that the work outlives its faults; in milliseconds. */
  readonly paceMs?: number;
}

const TIMEOUT_MS = 60_000;

/** Runs the work to its end, drains the queue, and returns the history. */
export async function runWorkload(workload: Workload): Promise<readonly QueueEvent[]> {
  const { queue, producers, consumers, items, binding, fault } = workload;
  const history: QueueEvent[] = [];
  const stores = Array.from({ length: producers + consumers }, (_, n) => createClient(zookeeper(binding(n))));
  const [faulty, working] = [new AbortController(), new AbortController()];
  const faults = fault?.(faulty.signal);
  const produce = async (store: Store, by: number): Promise<void> => {
    for (let n = by; n < items; n += producers) {
      await pause(workload.paceMs);
      history.push(await observe(store, { kind: 'enqueue', by: `p${by}`, queue, item: `item-${n}` }));
    }
  };
  const consume = async (store: Store, by: number): Promise<void> => {
    for (;;) {
      const isLast = working.signal.aborted;
      const event = await observe(store, { kind: 'dequeue', by: `c${by}`, queue });
      history.push(event);
      if (isLast && event.item === null) return;
      await pause(workload.paceMs);
    }
  };
  const { inFlight = 1 } = workload;
  const consuming = stores
    .slice(producers)
    .flatMap((store, by) => Array.from({ length: inFlight }, () => consume(store, by)));
  await Promise.all(stores.slice(0, producers).map(produce));
  faulty.abort();
  await faults;
  working.abort();
  await Promise.all(consuming);
  await Promise.all(stores.map((store) => store.close()));
  return history;
}

interface Step {
  readonly kind: QueueEvent['kind'];
  readonly by: string;
  readonly queue: string;
  readonly item?: string;
}

/** Does one operation and says how it went. */
export async function observe(store: Store, { kind, by, queue, item }: Step): Promise<QueueEvent> {
  const from = performance.now();
  const options = { timeoutMs: TIMEOUT_MS };
  try {
    if (item !== undefined) {
      await store.invoke(enqueue(queue, item), options);
      return { kind, by, item, from, to: performance.now() };
    }
    const found = await store.invoke(dequeue<string>(queue), options);
    return { kind, by, item: found === null ? null : found.item, from, to: performance.now() };
  } catch (error) {
    const code = isCorrectableError(error) ? error.code : String(error);
    // Not sent at all: it has not happened.
    const isUndone = kind === 'dequeue' && code === 'UNAVAILABLE';
    return { kind, by, item: isUndone ? null : item, from, to: isUndone ? from : performance.now(), error: code };
  }
}

export function pause(ms = 0): Promise<void> {
  return ms === 0 ? Promise.resolve() : new Promise((resolve) => setTimeout(resolve, ms));
}
