/**
 * RUBiS at one to five sites, with its bidding mix (RedBlue, OSDI 2012, Figures 10 and 11 and Table
 * 4).
 */
import { shopBench } from './shop-bench.ts';

export const rubis = shopBench({
  name: 'rubis',
  about: "RUBiS's auctions at one to five sites: clicks a second, latency and share of red",
  exemplars: {
    blue: 'storeBid',
    red: 'storeBuyNow',
    mix: { storeBid: 1, storeBuyNow: 1 },
    redShare: 0.99,
  },
  blueShares: { bidding: 0.974 },
  scale: 0.003,
});
