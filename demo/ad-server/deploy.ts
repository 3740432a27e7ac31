/** The ad server with its store, its data and its content service. */
import { Agent } from 'node:http';
import axios from 'axios';
import type { Deployment, DeploymentOptions } from '../shared/chase/headless.ts';
import { openStore } from '../shared/chase/store.ts';
import { adApplication } from './application.ts';
import { startContentService } from './content-service.ts';
import { contentOver } from './creative.ts';
import { adData } from './data.ts';

/** What the content service takes for itself: it stands beside the client. */
export const CONTENT_DELAY_MS = 1;
/** The content service is next door, and never sends anybody elsewhere. */
const HTTP = { proxy: false, maxRedirects: 0, timeout: 10_000 } as const;

const STORES = {
  redblue: async () => (await import('./stores/redblue.ts')).openRedblueAds,
  cassandra: async () => (await import('./stores/cassandra.ts')).openCassandraAds,
};

/** Starts everything, with the client beside `client`. */
export async function deployAds(options: DeploymentOptions, progress: (text: string) => void): Promise<Deployment> {
  const data = adData(options);
  const store = await openStore(STORES, data, options, progress);
  const content = await startContentService(CONTENT_DELAY_MS);
  const agent = new Agent({ keepAlive: true });
  const http = axios.create({ ...HTTP, baseURL: content.url, httpAgent: agent });
  return {
    application: adApplication({ store: store.store, content: contentOver(http), data, locale: 'en-IE' }),
    sizes: { profiles: data.profiles, ads: data.ads },
    async close() {
      await store.close();
      agent.destroy();
      await content.close();
    },
  };
}
