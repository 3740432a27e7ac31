/**
 * The page with a query for each key, which the start page names but does not draw: it reads both
 * keys of the copy again at the same time, and the second one once more if the first names another
 * key.
 */
import {
  getDelivery,
  getOffer,
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
  const [offer, sameKey] = await Promise.all([
    shop.invokeStrong(getOffer()),
    shop.invokeStrong(getDelivery(cached)),
  ]);
  const delivery =
    offer.warehouse === cached.warehouse
      ? sameKey
      : await shop.invokeStrong(getDelivery(offer));
  page.show({ offer, delivery }, 'confirmed');
  page.allowBuying();
};
