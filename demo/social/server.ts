/**
 * The social network in one process: two regions of two sites each, with the delays of a wide area
 * between them.
 */
import type { RequestListener } from 'node:http';
import { serve, type SiteAlarm } from 'correctables/server';
import { ROUND_TRIPS_MS } from '../../engines/wan.ts';
import { fileListener } from '../page-cache/page-files.ts';
import { withPageHeaders } from '../page-headers.ts';
import { addFirstContent } from './first-content.ts';
import { buildPage } from './page/build.ts';
import { MAIN_LEADER, PARTITIONS, SITES, type Site } from './regions.ts';
import { service } from './service.ts';

export interface NetworkOptions {
  /** Whether each region has a red log. Otherwise one log orders everything. Default: true */
  readonly hasPartitions?: boolean;
}

export interface RunningNetwork {
  readonly url: string;
  /** The websocket address of a site. */
  siteUrl(site: Site): string;
  close(): Promise<void>;
}

/** Starts the sites without a page, on any free port. */
export function startSites(options: NetworkOptions = {}): Promise<RunningNetwork> {
  return start({ port: 0, ...options });
}

/**
 * Builds the page, then starts the sites with some content, and serves both at one address; 0 is
 * any free port.
 */
export async function startNetwork({ port }: { readonly port: number }): Promise<RunningNetwork> {
  const network = await start({ port, page: withPageHeaders(fileListener(await buildPage())) });
  try {
    await addFirstContent((site) => network.siteUrl(site));
  } catch (error) {
    await network.close();
    throw error;
  }
  return network;
}

interface Listening extends NetworkOptions {
  readonly port: number;
  readonly page?: RequestListener;
}

function start({ hasPartitions = true, ...listening }: Listening): Promise<RunningNetwork> {
  return serve({
    service,
    sites: SITES,
    redLeader: MAIN_LEADER,
    latency: ROUND_TRIPS_MS,
    onAlarm: warn,
    ...(hasPartitions && { partitions: PARTITIONS }),
    ...listening,
  });
}

/** Half of the follows are between the regions on purpose. */
function warn({ kind, message }: SiteAlarm): void {
  if (kind !== 'operation-mostly-global') process.emitWarning(message, { code: kind });
}
