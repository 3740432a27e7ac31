/**
 * Shows the early answer, marked as such. Buying waits for the confirmed price, and for the stock
 * only when few are left.
 */
import { all } from 'correctables';
import { getRemaining } from 'correctables/operations';
import {
  getDelivery,
  getOffer,
  takeOne,
  type Buy,
  type Open,
} from './shop.ts';

export const open: Open = async (shop, page) => {
  const offer = shop.invoke(getOffer());
  const delivery = offer
    .map(({ warehouse }) => warehouse)
    .speculate((warehouse) =>
      shop.invoke(getDelivery({ warehouse })),
    );
  await all({ offer, delivery })
    .onUpdate((goods) =>
      page.show(goods, 'confirming'),
    )
    .onFinal((goods) =>
      page.show(goods, 'confirmed'),
    );
  page.allowBuying();
};

export const buy: Buy = async (shop, page) => {
  const item = await shop.invoke(takeOne()).settle({
    enough: (view) => getRemaining(view) > 20,
  });
  page.answer(
    item.value === null ? 'sold out' : 'yours',
  );
};
