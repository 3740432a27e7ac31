/** A store from which tickets can be sold. It is started for the sale if it is not running. */
import type { Shop } from '../purchase.ts';
import type { Options } from '../options.ts';

export interface SalesStore {
  /** The client of each retailer. */
  readonly shops: readonly Shop[];
  /**
   * Clients for the same sale by other recipes, with strong views only, by name: one for each
   * retailer.
   */
  readonly baselines: Readonly<Record<string, readonly Shop[]>>;
  /**
   * Clients for the same sale with the same views, but connected differently, by name: one for each
   * retailer.
   */
  readonly alternatives: Readonly<Record<string, readonly Shop[]>>;
  close(): Promise<void>;
}

/** The alternative where retailers beside one site share a client of the store. */
export const SHARED = 'one binding a site';

export interface StoreOptions extends Pick<Options, 'client' | 'wan' | 'stock'> {
  /**
   * Whether retailers use only their threshold, as in the paper, so that the store does not
   * throttle them.
   */
  readonly isFixed: boolean;
}

/** Starts what is needed and connects the retailers. `progress` gets lines for a person. */
export type OpenStore = (
  options: StoreOptions,
  progress: (text: string) => void,
) => Promise<SalesStore>;

/** Closes clients, each once: retailers may share one. */
export async function closeShops(...groups: readonly (readonly Shop[])[]): Promise<void> {
  await Promise.all([...new Set(groups.flat())].map((shop) => shop.close()));
}
