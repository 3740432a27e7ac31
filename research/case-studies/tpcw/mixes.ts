/**
 * TPC-W's three workloads: how often each of its fourteen web interactions is asked for, in
 * percent.
 */
import { drawnFrom, type Mix } from '../case-study.ts';
import type { Random } from '../../../demo/shared/random.ts';

export const mixes = {
  shopping: {
    home: 16,
    newProducts: 5,
    bestSellers: 5,
    productDetail: 17,
    searchRequest: 20,
    searchResults: 17,
    shoppingCart: 11.6,
    customerRegistration: 3,
    buyRequest: 2.6,
    buyConfirm: 1.2,
    orderInquiry: 0.75,
    orderDisplay: 0.66,
    adminRequest: 0.1,
    adminConfirm: 0.09,
  },
  browsing: {
    home: 29,
    newProducts: 11,
    bestSellers: 11,
    productDetail: 21,
    searchRequest: 12,
    searchResults: 11,
    shoppingCart: 2,
    customerRegistration: 0.82,
    buyRequest: 0.75,
    buyConfirm: 0.69,
    orderInquiry: 0.3,
    orderDisplay: 0.25,
    adminRequest: 0.1,
    adminConfirm: 0.09,
  },
  ordering: {
    home: 9.12,
    newProducts: 0.46,
    bestSellers: 0.46,
    productDetail: 12.35,
    searchRequest: 14.53,
    searchResults: 13.08,
    shoppingCart: 13.53,
    customerRegistration: 12.86,
    buyRequest: 12.73,
    buyConfirm: 10.18,
    orderInquiry: 0.25,
    orderDisplay: 0.22,
    adminRequest: 0.12,
    adminConfirm: 0.11,
  },
} as const satisfies Readonly<Record<string, Mix>>;

/** The steps of a purchase. In each mix a step is requested less often than the one before it. */
const PURCHASE = ['shoppingCart', 'customerRegistration', 'buyRequest', 'buyConfirm'] as const;

/**
 * The requests of one user. Each of the steps to a purchase goes on to the next one so often that
 * all are asked for as the mix says; otherwise the user turns back to the cart. The user is under
 * way already, as far as users are on average: if all began at the cart, there would be no
 * purchases among their first requests.
 */
export function follow(mix: Mix, random: Random): () => string {
  const weightOf = (step: number): number => mix[PURCHASE[step] ?? ''] ?? 0;
  let step = beganAt(
    PURCHASE.map((_, at) => weightOf(at)),
    random,
  );
  return () => {
    const name = drawnFrom(mix, random);
    if (!PURCHASE.some((item) => item === name)) return name;
    const shouldContinue = random() * weightOf(step) < weightOf(step + 1);
    step = shouldContinue ? step + 1 : 0;
    return PURCHASE[step] as string;
  };
}

/** The step that was done last: one is as likely as it is often asked for. */
function beganAt(weights: readonly number[], random: Random): number {
  let left = random() * weights.reduce((sum, weight) => sum + weight, 0);
  return weights.findIndex((weight) => (left -= weight) < 0);
}
