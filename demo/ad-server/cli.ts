/** `npm run demo:ads`: the page, or a comparison without a page. */
import { runDemo } from '../shared/speculation/cli.ts';
import { deployAds } from './deploy.ts';
import { startAdPage } from './page-server.ts';

await runDemo(
  {
    command: 'demo:ads',
    about:
      'Serves personalised ads with and without speculation; without --headless, opens the page for it',
    scale: 0.02,
    port: 7410,
    bindings: ['redblue', 'cassandra', 'postgres'],
    deploy: deployAds,
    startPage: startAdPage,
    greeting: 'The ad server is open',
  },
  process.argv.slice(2),
);
