/** `npm run demo:twissandra`: the page, or a comparison without a page. */
import { runDemo } from '../shared/speculation/cli.ts';
import { deployTimelines } from './deploy.ts';
import { startTimelinePage } from './page-server.ts';

await runDemo(
  {
    command: 'demo:twissandra',
    about:
      'Reads timelines with and without speculation; without --headless, opens the page for it',
    scale: 0.05,
    port: 7415,
    bindings: ['redblue', 'cassandra'],
    deploy: deployTimelines,
    startPage: startTimelinePage,
    greeting: 'The timelines are open',
  },
  process.argv.slice(2),
);
