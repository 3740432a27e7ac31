/**
 * Shows the copy close by, marked, and holds Buy until one function has read both values again, as
 * a page with one query and `disabled={isFetching}` does.
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
  const old = await shop.invokeWeak(
    getDelivery(cached),
  );
  page.show(
    { offer: cached, delivery: old },
    'confirming',
  );
  const offer = await shop.invokeStrong(getOffer());
  const delivery = await shop.invokeStrong(
    getDelivery(offer),
  );
  page.show({ offer, delivery }, 'confirmed');
  page.allowBuying();
};

export const buy: Buy = async (shop, page) => {
  const item = await shop.invokeStrong(takeOne());
  page.answer(item === null ? 'sold out' : 'yours');
};
