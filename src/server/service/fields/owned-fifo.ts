/** Effects in flight on one field, oldest first, for kinds of field whose pending effects come and go at the ends. */
import { Fifo } from '../../collections/fifo.ts';
import type { Owned } from './owned-effects.ts';

export class OwnedFifo {
  #entries = new Fifo<Owned>();

  get size(): number {
    return this.#entries.size;
  }

  push(owned: Owned): void {
    this.#entries.push(owned);
  }

  at(index: number): Owned | undefined {
    return this.#entries.at(index);
  }

  all(): readonly Owned[] {
    return this.#entries.slice();
  }

  /** Takes out what `owner` has, if that is the oldest, and tells of each; says whether it is. */
  takeOldest(owner: number, taken: (owned: Owned) => void): boolean {
    if (this.#entries.at(0)?.owner !== owner) return false;
    while (this.#entries.at(0)?.owner === owner) taken(this.#entries.shift() as Owned);
    return true;
  }

  /** Drops what is not wanted; gives what is left. */
  keep(isWanted: (owned: Owned) => boolean): readonly Owned[] {
    const rest = this.all().filter(isWanted);
    this.#entries = new Fifo(rest);
    return rest;
  }
}
