/**
 * The process of the sites: one for costs, three with the delays of the Correctables paper for
 * latencies.
 */
import { keyValueService, serve } from 'correctables/server';
import { ROUND_TRIPS_MS, SITES } from '../../engines/wan.ts';
import type { Way } from './messages.ts';
import { service } from './service.ts';

const [, , way, sites] = process.argv as unknown as [string, string, Way, string];
const options = {
  service: way === 'transaction' ? keyValueService : service,
  redLeader: SITES[0],
} as const;
const server =
  Number(sites) === 1
    ? await serve({ ...options, sites: [SITES[0]] })
    : await serve({ ...options, sites: SITES, latency: latencyOf() });
const urls = SITES.slice(0, Number(sites)).map((site) => server.siteUrl(site as (typeof SITES)[0]));
process.send?.({ url: urls[0], urls });
process.on('disconnect', () => process.exit());

function latencyOf(): Record<string, number> {
  const names: readonly string[] = SITES;
  const between = Object.entries(ROUND_TRIPS_MS).filter(([pair]) =>
    pair.split('-').every((site) => names.includes(site)),
  );
  return Object.fromEntries(between);
}
