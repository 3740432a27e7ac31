/**
 * The ad server's data on the RedBlue backend: three sites in this process, reached over real
 * websockets.
 */
import type { AnyClient } from 'correctables';
import { inBatches } from '../../shared/batches.ts';
import type { OpenStore } from '../../shared/speculation/store.ts';
import { openRedblue } from '../../shared/redblue-store.ts';
import { adContract, BATCH_MAX } from '../contract.ts';
import { adIdOf, uidOf, type AdData } from '../data.ts';
import { service } from '../service.ts';

export const openRedblueAds: OpenStore<AdData> = (data, options, progress) => {
  const load = (store: AnyClient): Promise<void> => {
    progress(`loading ${data.profiles} profiles and ${data.ads} ads`);
    return loadAds(store, data);
  };
  return openRedblue({ service, contract: adContract, load }, options, progress);
};

/** Loads the data through one client, and waits until it can be read there. */
export async function loadAds(store: AnyClient, data: AdData): Promise<void> {
  await inBatches({ count: data.ads, batchMax: BATCH_MAX }, data.ad, (ads) =>
    store.invoke(adContract.putAds({ ads })),
  );
  await inBatches(
    { count: data.profiles, batchMax: BATCH_MAX },
    (user) => ({ uid: uidOf(user), refs: data.refsOf(user) }),
    (profiles) => store.invoke(adContract.putProfiles({ profiles })),
  );
  const lastAd = adContract.getAd({ id: adIdOf(data.ads - 1) });
  const lastProfile = adContract.getPersonalizedAdsRefs({ uid: uidOf(data.profiles - 1) });
  // Each strong read takes a round trip between sites, so this loop is no busy wait.
  while ((await store.invokeStrong(lastAd)) === null);
  while ((await store.invokeStrong(lastProfile)).length === 0);
}
