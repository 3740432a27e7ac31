/**
 * Additions and takes in flight over a stock. What all of them make of the committed value is remembered together with
 * that value; when the oldest commits, the value below moves to what the oldest makes of it, and what is remembered still
 * holds. So coming and going cost the same however many are in flight; only what another site takes costs a pass.
 */
import type { Effect } from '../../records/effect.ts';
import { OwnedEffects, OwnedFifo, type Owned } from './owned-effects.ts';
import type { Stocked, Taken } from './stock.ts';
import { plus, type Sum } from './sum.ts';

/** `over` is what all pending effects make of `base`. */
interface Known {
  readonly base: Sum;
  readonly over: Sum;
}

function after(sum: Sum, { effect }: Owned): Sum {
  return effect === undefined ? 0 : stockAfter(sum, effect).sum;
}

/** Pending effects on one stock. */
export class PendingStock extends OwnedEffects {
  readonly #pending = new OwnedFifo();
  #known: Known | undefined;

  protected add(owned: Owned & { readonly effect: Effect }, base: unknown): Stocked | Taken {
    this.settle();
    const changed = stockAfter(this.#sumOver(base as number), owned.effect);
    this.#pending.push(owned);
    this.#known = { base: base as number, over: changed.sum };
    return stockResult(owned.effect, changed);
  }

  protected addRemoval(owner: number): void {
    this.#pending.push({ owner, effect: undefined });
    if (this.#known !== undefined) this.#known = { base: this.#known.base, over: 0 };
  }

  protected takeOldest(owner: number): boolean {
    return this.#pending.takeOldest(owner, (oldest) => {
      if (this.#known !== undefined) this.#known = { base: after(this.#known.base, oldest), over: this.#known.over };
    });
  }

  protected keep(isWanted: (owned: Owned) => boolean): readonly Owned[] {
    this.#known = undefined;
    return this.#pending.keep(isWanted);
  }

  protected shown(base: unknown): number {
    return Number(this.#sumOver(base as number));
  }

  #sumOver(base: number): Sum {
    if (this.#known?.base === base) return this.#known.over;
    let over: Sum = base;
    for (let index = 0; index < this.#pending.size; index += 1) over = after(over, this.#pending.at(index) as Owned);
    this.#known = { base, over };
    return over;
  }
}

/** What a `take` carries. */
export interface Take {
  readonly amount: number;
  readonly atLeast: number;
}

/** The sum after an effect, and whether that has changed it as it was to. */
export function stockAfter(sum: Sum, { action, value }: Effect): { readonly sum: Sum; readonly took: boolean } {
  if (action === 'add') return { sum: plus(sum, value as number), took: true };
  const { amount, atLeast } = value as Take;
  const left = plus(sum, -amount);
  return left >= atLeast ? { sum: left, took: true } : { sum, took: false };
}

/** What an effect yields. */
export function stockResult(
  effect: Effect,
  { sum, took }: { readonly sum: Sum; readonly took: boolean },
): Stocked | Taken {
  const remaining = Number(sum);
  return effect.action === 'add' ? { remaining } : { took, remaining };
}
