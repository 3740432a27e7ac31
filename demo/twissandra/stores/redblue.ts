/**
 * The timelines on the RedBlue backend: three sites in this process, reached over real websockets.
 */
import type { AnyClient } from 'correctables';
import { inBatches } from '../../shared/batches.ts';
import type { OpenStore } from '../../shared/speculation/store.ts';
import { openRedblue } from '../../shared/redblue-store.ts';
import { BATCH_MAX, twissandraContract } from '../contract.ts';
import type { TweetData } from '../data.ts';
import { service } from '../service.ts';

export const openRedblueTimelines: OpenStore<TweetData> = (data, options, progress) => {
  const load = (store: AnyClient): Promise<void> => {
    progress(`loading ${data.tweets} tweets into ${data.timelines} timelines`);
    return loadTweets(store, data);
  };
  return openRedblue({ service, contract: twissandraContract, load }, options, progress);
};

/** Loads the data through one client, and waits until it can be read there. */
export async function loadTweets(store: AnyClient, data: TweetData): Promise<void> {
  await inBatches({ count: data.tweets, batchMax: BATCH_MAX }, data.post, (posts) =>
    store.invoke(twissandraContract.loadTweets({ posts })),
  );
  const last = twissandraContract.getTweets({ ids: [data.post(data.tweets - 1).tweet.id] });
  // Each strong read takes a round trip between sites, so this loop is no busy wait.
  while ((await store.invokeStrong(last))[0] === null);
}
