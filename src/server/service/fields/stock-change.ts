/** What the effects on a stock do to it and yield, whether they are applied or laid over it. */
import type { Effect } from '../../records/effect.ts';
import type { Stocked, Taken } from './stock-view.ts';
import { plus, type Sum } from './sum.ts';

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
