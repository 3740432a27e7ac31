/**
 * The process of the sites: as many of the paper's sites as its argument specifies, with the delays
 * between them.
 */
import { serve } from 'correctables/server';
import { ROUND_TRIPS_MS, SITES, type Site } from '../../research/case-studies/sites.ts';
import { service } from './service.ts';

const sites = SITES.slice(0, Number(process.argv[2])) as [Site, ...Site[]];
const server = await serve({ service, sites, redLeader: SITES[0], latency: ROUND_TRIPS_MS });
process.send?.({ urls: sites.map((site) => server.siteUrl(site)) });
process.on('disconnect', () => process.exit());
