/**
 * The two stores of comments, with the same sites and delays. They can be in this process or on
 * Redis.
 */
import type { Binding } from 'correctables';
import { createCausalStore, type CausalLevels } from 'correctables/bindings/causal';
import { PlainCopies, type CopyLevels } from './plain-copies.ts';
import { getRoundTripsMs, LINE, SITES, type Delays, type Site } from './sites.ts';

export interface CommentStores {
  /** Returns the binding of a site of the store with causal order. */
  causal(site: Site): Binding<CausalLevels>;
  /** Returns the binding of a site of the store without causal order. */
  copies(site: Site): Binding<CopyLevels>;
  cutLine(): Promise<void>;
  repairLine(): Promise<void>;
  close(): Promise<void>;
}

/** Opens both stores in this process. */
export function openEmbeddedStores(delays: Delays): CommentStores {
  const causal = createCausalStore({ sites: SITES, latency: getRoundTripsMs(delays) });
  const copies = new PlainCopies(delays);
  return {
    causal: (site) => causal.site(site),
    copies: (site) => copies.site(site),
    cutLine: async () => {
      causal.disconnect(...LINE);
      copies.cut(...LINE);
    },
    repairLine: async () => {
      causal.reconnect(...LINE);
      copies.repair(...LINE);
    },
    close: async () => {
      copies.close();
      await causal.close();
    },
  };
}
