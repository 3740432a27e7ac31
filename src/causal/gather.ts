/** Waits for several replies, without a promise: the simulator runs each step in its own order. */
import { isRefusal, type Refusal } from './partition-calls.ts';

/**
 * Collects replies by their index. The first refusal ends the collection, and later replies are
 * ignored.
 */
export class Gathering<T extends object> {
  readonly #replies = new Map<number, T>();
  readonly #count: number;
  readonly #onEnd: (result: readonly T[] | Refusal) => void;
  #hasEnded = false;

  constructor(count: number, onEnd: (result: readonly T[] | Refusal) => void) {
    this.#count = count;
    this.#onEnd = onEnd;
    if (count === 0) this.#end([]);
  }

  add(place: number, reply: T | Refusal): void {
    if (this.#hasEnded) return;
    if (isRefusal(reply)) return this.#end(reply);
    this.#replies.set(place, reply);
    if (this.#replies.size < this.#count) return;
    this.#end(Array.from({ length: this.#count }, (_, at) => this.#replies.get(at) as T));
  }

  #end(result: readonly T[] | Refusal): void {
    this.#hasEnded = true;
    this.#onEnd(result);
  }
}
