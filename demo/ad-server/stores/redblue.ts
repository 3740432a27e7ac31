/** The ad server's data on the RedBlue backend: three sites in this process, reached over real websockets. */
import { createClient, type AnyClient } from 'correctables';
import { redblue } from 'correctables/bindings/redblue';
import { WebSocket } from 'ws';
import { startSites } from '../../shared/backend.ts';
import { inBatches } from '../../shared/batches.ts';
import type { OpenStore } from '../../shared/chase/store.ts';
import { adContract, BATCH_MAX } from '../contract.ts';
import { adIdOf, uidOf, type AdData } from '../data.ts';
import { service } from '../service.ts';

export const openRedblueAds: OpenStore<AdData> = async (data, { client, wan }, progress) => {
  progress(`starting three sites (delays: ${wan}), the client beside ${client}`);
  const sites = await startSites({ service, wan });
  const store = createClient(redblue(adContract, { url: sites.siteUrl(client), WebSocket }));
  const close = async (): Promise<void> => {
    await store.close();
    await sites.close();
  };
  try {
    progress(`loading ${data.profiles} profiles and ${data.ads} ads`);
    await loadAds(store, data);
    return { store, close };
  } catch (error) {
    await close();
    throw error;
  }
};

/** Loads the data through one client, and waits until it can be read there. */
export async function loadAds(store: AnyClient, data: AdData): Promise<void> {
  await inBatches({ count: data.ads, batchMax: BATCH_MAX }, data.ad, (ads) => store.invoke(adContract.putAds({ ads })));
  await inBatches(
    { count: data.profiles, batchMax: BATCH_MAX },
    (user) => ({ uid: uidOf(user), refs: data.refsOf(user) }),
    (profiles) => store.invoke(adContract.putProfiles({ profiles })),
  );
  const lastAd = adContract.getAd({ id: adIdOf(data.ads - 1) });
  const lastProfile = adContract.getPersonalizedAdsRefs({ uid: uidOf(data.profiles - 1) });
  // A strong read is a round trip over the wide area: asking again is not busy waiting.
  while ((await store.invokeStrong(lastAd)) === null);
  while ((await store.invokeStrong(lastProfile)).length === 0);
}
