/** The timelines' page: the same code as in the service, in a browser. */
import { make } from '../../shared/page/dom.ts';
import { runPage } from '../../shared/page/page.ts';
import { timelineApplication } from '../application.ts';
import { twissandraContract, type Tweet } from '../contract.ts';
import { tweetData } from '../data.ts';

await runPage<Tweet>({
  things: 'tweets',
  hasContent: false,
  contract: twissandraContract,
  open: (store, _http, about) => timelineApplication(store, tweetData(about)),
  item: ({ author, body }) =>
    make('li', 'text', make('span', 'author', author), make('span', '', body)),
});
