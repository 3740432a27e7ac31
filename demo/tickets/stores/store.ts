/** A store that tickets can be sold from, started for the sale where it does not run yet. */
import type { Shop } from '../purchase.ts';
import type { Options } from '../options.ts';

export interface SalesStore {
  /** The shop as each retailer reaches it. */
  readonly shops: readonly Shop[];
  /** The same sale by other means, with strong views only, by name; each once a retailer. */
  readonly baselines: Readonly<Record<string, readonly Shop[]>>;
  /** The same sale with the same views, otherwise connected, by name; each once a retailer. */
  readonly alternatives: Readonly<Record<string, readonly Shop[]>>;
  close(): Promise<void>;
}

/** The alternative where retailers beside one site share a client of the store. */
export const SHARED = 'one binding a site';

export interface StoreOptions extends Pick<Options, 'client' | 'wan' | 'stock'> {
  /** Retailers trust their threshold alone, as in the paper, so the store does not pace them. */
  readonly isFixed: boolean;
}

/** Starts what is needed and connects the retailers. `progress` gets lines for a person. */
export type OpenStore = (options: StoreOptions, progress: (text: string) => void) => Promise<SalesStore>;

/** Closes clients, each once: retailers may share one. */
export async function closeShops(...groups: readonly (readonly Shop[])[]): Promise<void> {
  await Promise.all([...new Set(groups.flat())].map((shop) => shop.close()));
}
