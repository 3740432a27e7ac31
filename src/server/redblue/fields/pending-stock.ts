/**
 * Additions and takes in flight over a stock. What all of them make of the committed value is remembered together with
 * that value; when the oldest commits, the value below moves to what the oldest makes of it, and what is remembered still
 * holds. So coming and going cost the same however many are in flight; only what another site takes costs a pass.
 */
import { Fifo } from '../../log/fifo.ts';
import type { Effect } from '../effect.ts';
import type { PendingEffects } from './field.ts';
import { stockAfter, stockResult } from './stock-change.ts';
import type { Stocked, Taken } from './stock-view.ts';
import type { Sum } from './sum.ts';

interface Pending {
  readonly owner: number;
  /** None for the removal of the row. */
  readonly effect: Effect | undefined;
}

/** `over` is what all pending effects make of `base`. */
interface Known {
  readonly base: Sum;
  readonly over: Sum;
}

function after(sum: Sum, { effect }: Pending): Sum {
  return effect === undefined ? 0 : stockAfter(sum, effect).sum;
}

/** Pending effects on one stock. */
export class PendingStock implements PendingEffects {
  #pending = new Fifo<Pending>();
  #known: Known | undefined;

  get size(): number {
    return this.#pending.size;
  }

  append(owner: number, effect: Effect, base: unknown): Stocked | Taken {
    const changed = stockAfter(this.#sumOver(base as number), effect);
    this.#pending.push({ owner, effect });
    this.#known = { base: base as number, over: changed.sum };
    return stockResult(effect, changed);
  }

  clear(owner: number): void {
    this.#pending.push({ owner, effect: undefined });
    if (this.#known !== undefined) this.#known = { base: this.#known.base, over: 0 };
  }

  remove(owner: number): void {
    if (this.#pending.at(0)?.owner !== owner) return this.#removeLater(owner);
    while (this.#pending.at(0)?.owner === owner) {
      const oldest = this.#pending.shift() as Pending;
      if (this.#known !== undefined) this.#known = { base: after(this.#known.base, oldest), over: this.#known.over };
    }
  }

  over(base: unknown): number {
    return Number(this.#sumOver(base as number));
  }

  #sumOver(base: number): Sum {
    if (this.#known?.base === base) return this.#known.over;
    let over: Sum = base;
    for (let index = 0; index < this.#pending.size; index += 1) over = after(over, this.#pending.at(index) as Pending);
    this.#known = { base, over };
    return over;
  }

  /** Somebody in the middle is done: rare, since a site's red operations end in the order in which they began. */
  #removeLater(owner: number): void {
    this.#pending = new Fifo(this.#pending.slice().filter((pending) => pending.owner !== owner));
    this.#known = undefined;
  }
}
