/** The ad server with its store, its data and its content service. */
import type { Deployment, DeploymentOptions } from '../shared/speculation/headless.ts';
import { openStore } from '../shared/speculation/store.ts';
import { adApplication } from './application.ts';
import { openContent } from './content-client.ts';
import { startContentService } from './content-service.ts';
import { adData } from './data.ts';

/** The delay of the content service, which is beside the client. */
export const CONTENT_DELAY_MS = 1;

const STORES = {
  redblue: async () => (await import('./stores/redblue.ts')).openRedblueAds,
  cassandra: async () => (await import('./stores/cassandra.ts')).openCassandraAds,
  postgres: async () => (await import('./stores/postgres.ts')).openPostgresAds,
};

/** Starts everything, with the client beside `client`. */
export async function deployAds(
  options: DeploymentOptions,
  progress: (text: string) => void,
): Promise<Deployment> {
  const data = adData(options);
  const store = await openStore(STORES, data, options, progress);
  const service = await startContentService(CONTENT_DELAY_MS);
  const client = openContent(service.url);
  return {
    application: adApplication({
      store: store.store,
      content: client.content,
      data,
      locale: 'en-IE',
    }),
    sizes: { profiles: data.profiles, ads: data.ads },
    async close() {
      await store.close();
      client.close();
      await service.close();
    },
  };
}
