/** The ad server with its sites, its data and its content service. */
import { Agent } from 'node:http';
import axios from 'axios';
import { createClient, type AnyClient } from 'correctables';
import { redblue } from 'correctables/bindings/redblue';
import { WebSocket } from 'ws';
import { startSites } from '../shared/backend.ts';
import { inBatches } from '../shared/batches.ts';
import type { Deployment, DeploymentOptions } from '../shared/chase/headless.ts';
import { adApplication } from './application.ts';
import { startContentService } from './content-service.ts';
import { adContract, BATCH_MAX } from './contract.ts';
import { contentOver } from './creative.ts';
import { adData, adIdOf, uidOf, type AdData } from './data.ts';
import { service } from './service.ts';

/** What the content service takes for itself: it stands beside the client. */
export const CONTENT_DELAY_MS = 1;
/** The content service is next door, and never sends anybody elsewhere. */
const HTTP = { proxy: false, maxRedirects: 0, timeout: 10_000 } as const;

/** Starts everything, with the client beside `client`. */
export async function deployAds(options: DeploymentOptions, progress: (text: string) => void): Promise<Deployment> {
  const { scale, seed, client, wan } = options;
  const data = adData({ scale, seed });
  progress(`starting three sites (delays: ${wan}), the client beside ${client}`);
  const sites = await startSites({ service, wan });
  const content = await startContentService(CONTENT_DELAY_MS);
  const agent = new Agent({ keepAlive: true });
  const store = createClient(redblue(adContract, { url: sites.siteUrl(client), WebSocket }));
  const close = async (): Promise<void> => {
    await store.close();
    agent.destroy();
    await content.close();
    await sites.close();
  };
  try {
    progress(`loading ${data.profiles} profiles and ${data.ads} ads`);
    await loadAds(store, data);
    const http = axios.create({ ...HTTP, baseURL: content.url, httpAgent: agent });
    const application = adApplication({ store, content: contentOver(http), data, locale: 'en-IE' });
    return { application, sizes: { profiles: data.profiles, ads: data.ads }, close };
  } catch (error) {
    await close();
    throw error;
  }
}

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
