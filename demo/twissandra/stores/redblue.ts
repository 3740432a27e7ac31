/** The timelines on the RedBlue backend: three sites in this process, reached over real websockets. */
import { createClient, type AnyClient } from 'correctables';
import { redblue } from 'correctables/bindings/redblue';
import { WebSocket } from 'ws';
import { startSites } from '../../shared/backend.ts';
import { inBatches } from '../../shared/batches.ts';
import type { OpenStore } from '../../shared/chase/store.ts';
import { BATCH_MAX, twissandraContract } from '../contract.ts';
import type { TweetData } from '../data.ts';
import { service } from '../service.ts';

export const openRedblueTimelines: OpenStore<TweetData> = async (data, { client, wan }, progress) => {
  progress(`starting three sites (delays: ${wan}), the client beside ${client}`);
  const sites = await startSites({ service, wan });
  const store = createClient(redblue(twissandraContract, { url: sites.siteUrl(client), WebSocket }));
  const close = async (): Promise<void> => {
    await store.close();
    await sites.close();
  };
  try {
    progress(`loading ${data.tweets} tweets into ${data.timelines} timelines`);
    await loadTweets(store, data);
    return { store, close };
  } catch (error) {
    await close();
    throw error;
  }
};

/** Loads the data through one client, and waits until it can be read there. */
export async function loadTweets(store: AnyClient, data: TweetData): Promise<void> {
  await inBatches({ count: data.tweets, batchMax: BATCH_MAX }, data.post, (posts) =>
    store.invoke(twissandraContract.loadTweets({ posts })),
  );
  const last = twissandraContract.getTweets({ ids: [data.post(data.tweets - 1).tweet.id] });
  // A strong read is a round trip over the wide area: asking again is not busy waiting.
  while ((await store.invokeStrong(last))[0] === null);
}
