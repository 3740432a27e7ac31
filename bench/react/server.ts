/**
 * The process of the sites, with the delays of the Correctables paper (OSDI 2016, §6) between them.
 * The user of the page is as far from the site in Frankfurt as Ireland is, like the clients of most
 * experiments there. Its argument is the origin of the page.
 */
import { serve } from 'correctables/server';
import { startLatencyProxy } from '../../demo/shared/latency-proxy.ts';
import { ROUND_TRIPS_MS, roundTripMs, SITES } from '../../engines/wan.ts';
import { service } from './service.ts';

const server = await serve({
  service,
  sites: SITES,
  redLeader: 'ireland',
  latency: ROUND_TRIPS_MS,
  origins: process.argv.slice(2),
});
const reader = await startLatencyProxy(
  server.siteUrl('frankfurt'),
  roundTripMs('paper', 'ireland', 'frankfurt'),
);
process.send?.({ reader: reader.url, seller: server.siteUrl('ireland') });
process.on('disconnect', () => process.exit());
