/** Serves the ad server's page, with its sites, its data, and its content service. */
import { startPageDemo } from '../shared/page/start.ts';
import type { StartPage } from '../shared/speculation/cli.ts';
import { contentListener } from './content-service.ts';
import { adContract } from './contract.ts';
import { adData } from './data.ts';
import { CONTENT_DELAY_MS } from './deploy.ts';
import { adWords } from './page/messages.ts';
import { service } from './service.ts';
import { loadAds } from './stores/redblue.ts';

/** Builds the page, starts the sites, loads the data. */
export const startAdPage: StartPage = (options) => {
  const data = adData(options);
  return startPageDemo(options, {
    page: { name: 'ads', entry: new URL('page/main.ts', import.meta.url), words: adWords },
    contract: adContract,
    service,
    users: data.profiles,
    content: contentListener(CONTENT_DELAY_MS),
    load: (store) => loadAds(store, data),
  });
};
