/** The parts that the ways share: the reads and the write, and the page that they fill. */
import type { Client, Operation } from 'correctables';
import type { MemoryLevels } from 'correctables/bindings/memory';
import { dequeue, get } from 'correctables/operations';

/**
 * The shop's store: a copy close by answers at level `weak`, the shop's own server far away at
 * level `strong`.
 */
export type Shop = Client<MemoryLevels>;

export interface Offer {
  readonly price: number;
  readonly left: number;
  readonly warehouse: string;
}

/** Everything that the page shows. */
export interface Goods {
  readonly offer: Offer;
  readonly delivery: string;
}

export type Answer = 'yours' | 'sold out' | 'taken back';

export interface Page {
  /** Shows the goods. Without a state, a customer cannot see whether they are certain. */
  show(goods: Goods, state?: 'confirming' | 'confirmed'): void;
  allowBuying(): void;
  /** Answers the customer who has pressed Buy. A later answer replaces an earlier one. */
  answer(answer: Answer): void;
}

/** Opens the page. Resolves when no more will change. */
export type Open = (shop: Shop, page: Page) => Promise<void>;
/** Serves a customer who has pressed Buy. */
export type Buy = Open;

export const OFFER = 'offer';
export const STOCK = 'stock';

/**
 * The first read. The store has every value that is read here, so the types leave out `undefined`.
 */
export const getOffer = (): Operation<Offer> => get(OFFER) as Operation<Offer>;
/** The second read: its key depends on the result of the first. */
export const getDelivery = ({ warehouse }: Pick<Offer, 'warehouse'>): Operation<string> =>
  get(warehouse) as Operation<string>;
export const takeOne = () => dequeue(STOCK, { anyItem: true });
