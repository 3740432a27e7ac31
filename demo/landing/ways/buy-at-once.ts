/**
 * Shows the copy close by as if it were certain, and replaces it when the shop's own server has
 * answered.
 */
import {
  getDelivery,
  getOffer,
  takeOne,
  type Buy,
  type Open,
} from './shop.ts';

export const open: Open = async (shop, page) => {
  const cached = await shop.invokeWeak(getOffer());
  const delivery = await shop.invokeWeak(
    getDelivery(cached),
  );
  page.show({ offer: cached, delivery });
  page.allowBuying();
  const offer = await shop.invokeStrong(getOffer());
  const confirmed = await shop.invokeStrong(
    getDelivery(offer),
  );
  page.show({ offer, delivery: confirmed });
};

export const buy: Buy = async (shop, page) => {
  page.answer('yours');
  const item = await shop.invokeStrong(takeOne());
  if (item === null) page.answer('taken back');
};
