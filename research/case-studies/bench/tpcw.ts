/**
 * TPC-W at one to five sites, with its three mixes (RedBlue, OSDI 2012, Figures 10 to 12 and Table
 * 4).
 */
import { shopBench } from './shop-bench.ts';

/** Every step on the way to a purchase as often as the others. */
const TO_A_PURCHASE = { shoppingCart: 1, customerRegistration: 1, buyRequest: 1, buyConfirm: 1 };

export const tpcw = shopBench({
  name: 'tpcw',
  about:
    "TPC-W's bookstore at one to five sites: clicks a second, latency and share of red, by mix",
  exemplars: { blue: 'shoppingCart', red: 'buyConfirm', mix: TO_A_PURCHASE, redShare: 0.98 },
  blueShares: { shopping: 0.992, browsing: 0.995, ordering: 0.936 },
  scale: 0.02,
});
