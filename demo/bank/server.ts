/**
 * The bank in one process: three sites behind one port, with the page for them.
 *
 * It runs twice, with separate accounts: once with measured delays, which are too short to watch,
 * and once with slow ones. The page reaches both at its own address.
 */
import type { RequestListener } from 'node:http';
import { createClient } from 'correctables';
import {
  createEmbedded,
  createGateway,
  keyValueService,
  listenGateways,
  type Embedded,
} from 'correctables/server';
import { ROUND_TRIPS_MS } from '../../engines/wan.ts';
import { fileListener } from '../page-cache/page-files.ts';
import { withPageHeaders } from '../page-headers.ts';
import { buildPage } from './page/build.ts';
import { DELAYS, LEADER, SITES, SLOW_FACTOR, toSitePath, type Delays, type Site } from './sites.ts';
import { openAccounts } from './transfer.ts';

export interface BankOptions {
  /** With 2, a red log in Virginia orders the transfers between the accounts there. Default: 1 */
  readonly partitions?: number;
}

export interface RunningBank {
  readonly url: string;
  /** The websocket address of a site. */
  siteUrl(delays: Delays, site: Site): string;
  close(): Promise<void>;
}

/** Starts the sites without a page, on any free port. */
export async function startSites(options: BankOptions): Promise<RunningBank> {
  return await start({ port: 0, ...options });
}

/** Builds the page, then starts the sites and serves both at one address; 0 is any free port. */
export async function startBank(
  options: BankOptions & { readonly port: number },
): Promise<RunningBank> {
  return await start({ ...options, page: withPageHeaders(fileListener(await buildPage())) });
}

interface Listening extends BankOptions {
  readonly port: number;
  readonly page?: RequestListener;
}

async function start({ partitions = 1, ...listening }: Listening): Promise<RunningBank> {
  const deployments = DELAYS.map((delays) => openDeployment(delays, partitions));
  const closeSites = () => Promise.all(deployments.map((deployment) => deployment.close()));
  try {
    await Promise.all(deployments.map(prepare));
    const gateways = deployments.flatMap((deployment, at) => {
      return SITES.map((site) => [
        toSitePath(DELAYS[at] as Delays, site),
        createGateway({ site, binding: deployment.site(site), contract: keyValueService.contract }),
      ]);
    });
    const listener = await listenGateways({ sites: Object.fromEntries(gateways), ...listening });
    return {
      url: listener.url,
      siteUrl: (delays, site) => listener.siteUrl(toSitePath(delays, site)),
      close: async () => {
        await listener.close();
        await closeSites();
      },
    };
  } catch (error) {
    await closeSites();
    throw error;
  }
}

function openDeployment(delays: Delays, partitions: number): Embedded<Site> {
  const factor = delays === 'slow' ? SLOW_FACTOR : 1;
  const latency = Object.fromEntries(
    Object.entries(ROUND_TRIPS_MS).map(([pair, ms]) => [pair, factor * ms]),
  );
  return createEmbedded(keyValueService, {
    sites: SITES,
    redLeader: LEADER,
    latency,
    partitions: toPartitions(partitions),
  });
}

/** Returns the red logs beside that of `main`. */
export function toPartitions(
  partitions: number,
): Readonly<Record<string, { readonly leader: Site }>> {
  return partitions > 1 ? { us: { leader: 'virginia' } } : {};
}

async function prepare(deployment: Embedded<Site>): Promise<void> {
  const bank = createClient(deployment.site(LEADER));
  await openAccounts(bank);
  await bank.close();
}
