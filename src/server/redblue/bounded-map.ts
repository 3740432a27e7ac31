/**
 * A map that forgets its oldest entries. The order is kept apart, since finding the first key of a `Map` from which many
 * first keys were deleted takes longer and longer.
 */
import { Fifo } from '../log/fifo.ts';

/** At most `max` entries; each new key beyond that drops the oldest. */
export class BoundedMap<K, V> {
  readonly #max: number;
  readonly #values = new Map<K, V>();
  readonly #order = new Fifo<K>();

  constructor(max: number) {
    this.#max = max;
  }

  get(key: K): V | undefined {
    return this.#values.get(key);
  }

  set(key: K, value: V): void {
    if (!this.#values.has(key)) this.#order.push(key);
    this.#values.set(key, value);
    if (this.#order.size > this.#max) this.#values.delete(this.#order.shift() as K);
  }
}
