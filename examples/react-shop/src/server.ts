/** Three sites with the delays between their continents, in one process, and the page. */
import { parseArgs } from 'node:util';
import { createClient, type Client } from 'correctables';
import { redblue, type RedBlueLevels } from 'correctables/bindings/redblue';
import { serve } from 'correctables/server';
import { concerts } from './concerts.ts';
import { shop } from './contract.ts';
import { servePage } from './serve-page.ts';
import { service } from './service.ts';

const HELP = `npm run example -- react-shop [options]

Options:
  --port N    where to listen; any free port if left out
  --quiet     no other customers, who buy a ticket at another site every few seconds
  --help      print this

The customer of the page is in Singapore. The site that orders the sales is in Ireland.`;

/** Round trips, in milliseconds. */
const latency = { 'ireland-singapore': 180, 'ireland-virginia': 83, 'singapore-virginia': 230 };
const OTHERS_BUY_EVERY_MS = 4_000;

const { values } = parseArgs({
  options: { port: { type: 'string' }, quiet: { type: 'boolean' }, help: { type: 'boolean' } },
});
if (values.help) console.log(HELP);
else await run();

async function run(): Promise<void> {
  const server = await serve({
    service,
    sites: ['singapore', 'ireland', 'virginia'],
    redLeader: 'ireland',
    latency,
    port: Number(values.port ?? 0),
    page: servePage,
  });
  const others = createClient(redblue(shop, { url: server.siteUrl('virginia') }));
  await Promise.all(
    concerts.map(({ id, tickets }) => others.invoke(shop.open({ concert: id, tickets }))),
  );
  const timer = values.quiet
    ? undefined
    : setInterval(() => void buyOne(others), OTHERS_BUY_EVERY_MS);
  console.log(`The shop is open: ${server.url}`);
  console.log('Ctrl-C closes it.');
  await new Promise<void>((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => resolve());
  });
  clearInterval(timer);
  await others.close();
  await server.close({ drainMs: 0 });
}

/** A customer elsewhere, who leaves the last tickets to you. */
async function buyOne(others: Client<RedBlueLevels, true>): Promise<void> {
  const { id } = concerts[Math.floor(Math.random() * concerts.length)]!;
  try {
    const left = await others.invoke(shop.ticketsLeft({ concert: id }));
    if (left > 3) await others.invoke(shop.buy({ concert: id }));
  } catch {
    // The shop has closed meanwhile.
  }
}
