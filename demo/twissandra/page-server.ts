/** Serves the timelines' page, with its sites and its data. */
import { startPageDemo } from '../shared/page/start.ts';
import type { StartPage } from '../shared/speculation/cli.ts';
import { twissandraContract } from './contract.ts';
import { tweetData } from './data.ts';
import { timelineWords } from './page/messages.ts';
import { service } from './service.ts';
import { loadTweets } from './stores/redblue.ts';

/** Builds the page, starts the sites, loads the data. */
export const startTimelinePage: StartPage = (options) => {
  const data = tweetData(options);
  return startPageDemo(options, {
    page: {
      name: 'twissandra',
      entry: new URL('page/main.ts', import.meta.url),
      words: timelineWords,
    },
    contract: twissandraContract,
    service,
    users: data.timelines,
    load: (store) => loadTweets(store, data),
  });
};
