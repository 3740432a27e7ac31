/** The timelines with their store and their data. */
import type { Deployment, DeploymentOptions } from '../shared/speculation/headless.ts';
import { openStore } from '../shared/speculation/store.ts';
import { timelineApplication } from './application.ts';
import { tweetData } from './data.ts';

const STORES = {
  redblue: async () => (await import('./stores/redblue.ts')).openRedblueTimelines,
  cassandra: async () => (await import('./stores/cassandra.ts')).openCassandraTimelines,
};

/** Starts everything, with the client beside `client`. */
export async function deployTimelines(
  options: DeploymentOptions,
  progress: (text: string) => void,
): Promise<Deployment> {
  const data = tweetData(options);
  const { store, close } = await openStore(STORES, data, options, progress);
  const sizes = { timelines: data.timelines, tweets: data.tweets };
  return { application: timelineApplication(store, data), sizes, close };
}
