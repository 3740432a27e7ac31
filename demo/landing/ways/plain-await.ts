/** Waits for one answer from far away for each read, the second read after the first. */
import {
  getDelivery,
  getOffer,
  takeOne,
  type Buy,
  type Open,
} from './shop.ts';

export const open: Open = async (shop, page) => {
  const offer = await shop.invokeStrong(getOffer());
  const delivery = await shop.invokeStrong(
    getDelivery(offer),
  );
  page.show({ offer, delivery });
  page.allowBuying();
};

export const buy: Buy = async (shop, page) => {
  const item = await shop.invokeStrong(takeOne());
  page.answer(item === null ? 'sold out' : 'yours');
};
