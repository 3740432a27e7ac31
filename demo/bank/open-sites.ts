/**
 * Opens the sites of a run without a page: all in this process, or each as a process of its own
 * that can be killed.
 */
import { fileURLToPath } from 'node:url';
import { createClient } from 'correctables';
import { redblue } from 'correctables/bindings/redblue';
import { keyValue } from 'correctables/contract';
import { getMany } from 'correctables/operations';
import { WebSocket } from 'ws';
import { Cluster } from '../cluster/cluster.ts';
import { startClusterServer } from '../cluster/server.ts';
import { waysFrom } from '../cluster/ways.ts';
import { connectToSites } from '../shared/site-connection.ts';
import { ACCOUNTS, toKey } from './accounts.ts';
import { startSites, toPartitions } from './server.ts';
import { LEADER, type Delays, type Site } from './sites.ts';
import { openAccounts, type BankClient } from './transfer.ts';

const SERVICE = fileURLToPath(new URL('key-value-service.ts', import.meta.url));

/** A strong read of all accounts: it needs every red log. */
const PROBE = { contract: keyValue, operation: getMany(ACCOUNTS.map(toKey)) };

export interface OpenSites {
  /** Connects a client that is beside a site. It moves to another one if that site is killed. */
  connect(place: Site): BankClient;
  /** The processes, if the sites are processes. */
  readonly cluster: Cluster | undefined;
  close(): Promise<void>;
}

export interface InProcessOptions {
  readonly partitions: number;
  readonly delays: Delays;
}

export interface ProcessOptions {
  readonly partitions: number;
  /** Called when a client is at another site than before. */
  readonly onMove: (client: Site, from: Site, to: Site) => void;
}

export async function openInProcess({ partitions, delays }: InProcessOptions): Promise<OpenSites> {
  const sites = await startSites({ partitions });
  return {
    connect: (place) =>
      createClient(redblue(keyValue, { url: sites.siteUrl(delays, place), WebSocket })),
    cluster: undefined,
    close: () => sites.close(),
  };
}

export async function openProcesses({ partitions, onMove }: ProcessOptions): Promise<OpenSites> {
  const options = {
    wan: 'paper',
    service: SERVICE,
    probe: PROBE,
    partitions: toPartitions(partitions),
  } as const;
  const cluster = await Cluster.start(options);
  const { url, close } = await startClusterServer({ cluster, wan: 'paper', port: 0 });
  const connect = (place: Site): BankClient => {
    const connection = connectToSites(keyValue, {
      urls: waysFrom(url, place),
      WebSocket,
      onMove: (from, to) => onMove(place, from as Site, to as Site),
    });
    return createClient(connection.binding);
  };
  const sites: OpenSites = {
    connect,
    cluster,
    async close() {
      await close();
      await cluster.close();
    },
  };
  try {
    const bank = connect(LEADER);
    await openAccounts(bank);
    await bank.close();
    return sites;
  } catch (error) {
    await sites.close();
    throw error;
  }
}
