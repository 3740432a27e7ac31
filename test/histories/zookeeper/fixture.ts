/** What one round is played with: the ensemble, the shops, and what everybody writes into. */
import type { Ensemble } from '../../../engines/zookeeper/ensemble.ts';
import { queueLength, type DeliveryGuarantee } from '../../../src/bindings/zookeeper/index.ts';
import type { AnyClient } from '../../../src/index.ts';
import { dequeue, enqueue, get, put } from '../../../src/operations/index.ts';
import { Random } from '../../../src/server/service/collections/random.ts';
import type { Call, History } from '../history.ts';
import { observe, type Step } from '../observe.ts';
import { Gate } from './gate.ts';
import type { Shop } from './binding-client.ts';
import type { Counter } from '../counter.ts';

export type How = NonNullable<Step['how']>;

/** What a round is, drawn from its seed. */
export interface Plan {
  readonly seed: number;
  /**
   * What the janitor does with the items of dead consumers. Without a janitor no consumer dies, but
   * sessions expire.
   */
  readonly delivery: DeliveryGuarantee | undefined;
  /** Whether Frankfurt has no vote, which makes agreement take as long as the way to Virginia. */
  readonly hasObserver: boolean;
}

const DELIVERIES = ['at-most-once', undefined, 'at-least-once', undefined] as const;

export function createPlan(seed: number): Plan {
  const hasObserver = Math.floor(seed / DELIVERIES.length) % 2 === 1;
  return { seed, delivery: DELIVERIES[seed % DELIVERIES.length], hasObserver };
}

/** The queues, by what happens to them beside what happens to all. */
export const QUEUE = {
  /** Two views, or the final one. */
  sale: 'sale',
  /** The preliminary view alone. */
  weakly: 'weakly',
  /** Deleted and created again. */
  again: 'again',
  /** Its consumers close while customers wait. */
  closing: 'closing',
  /** Its consumers die. */
  mortal: 'mortal',
} as const;

/** The name of a session that reads values outside of its shop's session. */
export const OUTSIDE = ', outside';

/** Queues on first use, sold out and restocked. */
export const RUSH = 'rush';

export interface FixtureOptions {
  readonly ensemble: Ensemble;
  readonly plan: Plan;
  readonly history: History;
  readonly injected: Counter;
  readonly progress: (line: string) => void;
}

export class Scene {
  readonly ensemble: Ensemble;
  readonly plan: Plan;
  readonly injected: Counter;
  readonly progress: (line: string) => void;
  readonly shops: Shop[] = [];
  /** Every user of the queue that is deleted now and then has to pass. */
  readonly again = new Gate();
  readonly root: string;
  readonly #history: History;
  #draws = 0;

  constructor({ ensemble, plan, history, injected, progress }: FixtureOptions) {
    this.ensemble = ensemble;
    this.plan = plan;
    this.injected = injected;
    this.progress = progress;
    this.root = `/round-${plan.seed}`;
    this.#history = history;
  }

  /** A random source for one actor, which no other actor uses. Request them in a fixed order. */
  random(): Random {
    this.#draws += 1;
    return new Random(new Random(this.plan.seed * 1009 + this.#draws).bits());
  }

  /** The name of a queue or key in the history. */
  key(name: string): string {
    return `${this.plan.seed}/${name}`;
  }

  /** Does what is no operation of the binding, and records when. */
  async note(kind: string, key: string, act: () => Promise<void>): Promise<void> {
    const beginMs = performance.now();
    const call = this.#history.record({ session: 'operator', kind, key: this.key(key), beginMs });
    await act();
    Object.assign(call, { outcome: 'success', endMs: performance.now() });
    this.#history.ended(call);
  }

  enqueue(shop: Shop, queue: string, how: How = 'invoke'): Promise<Call> {
    const item = shop.newItem();
    const operation = enqueue(queue, item);
    return this.#observe(shop, { kind: 'enqueue', key: queue, input: item, operation, how });
  }

  dequeue(by: Caller, queue: string, how: How = 'invoke'): Promise<Call> {
    return this.#observe(by, {
      kind: 'dequeue',
      key: queue,
      operation: dequeue<string>(queue),
      how,
    });
  }

  put(shop: Shop, key: string, how: How): Promise<Call> {
    const value = shop.newItem();
    const { session } = shop;
    return this.#observe(shop, {
      kind: 'put',
      key,
      input: value,
      operation: put(key, value),
      how,
      within: session,
    });
  }

  get(
    shop: Shop,
    key: string,
    { how, isOutside }: { how: How; isOutside: boolean },
  ): Promise<Call> {
    const { name, client, session } = shop;
    const caller = isOutside ? { name: `${name}${OUTSIDE}`, client } : shop;
    const within = isOutside ? {} : { within: session };
    return this.#observe(caller, { kind: 'get', key, operation: get<string>(key), how, ...within });
  }

  length(by: Caller, queue: string, how: How): Promise<Call> {
    return this.#observe(by, { kind: 'length', key: queue, operation: queueLength(queue), how });
  }

  #observe({ name, client }: Caller, { key, ...step }: Omit<Step, 'session'>): Promise<Call> {
    return observe(this.#history, client, { ...step, key: this.key(key), session: name });
  }
}

/** Who calls. */
export interface Caller {
  readonly name: string;
  readonly client: AnyClient;
}

/** Does something so many times at once. */
export function times<T>(count: number, act: () => Promise<T>): Promise<T[]> {
  return Promise.all(Array.from({ length: count }, act));
}
