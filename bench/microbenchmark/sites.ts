/**
 * Starts the sites of the microbenchmark in a separate process, and users at any of the paper's
 * places.
 */
import { createClient, type Client } from 'correctables';
import { redblue, type RedBlueLevels } from 'correctables/bindings/redblue';
import { WebSocket } from 'ws';
import { nearestSite, roundTripMs, SITES, type Site } from '../../research/case-studies/sites.ts';
import { startLatencyProxy, type LatencyProxy } from '../../demo/shared/latency-proxy.ts';
import { seeded, wholeBetween } from '../../demo/shared/random.ts';
import { answer, ended, startChild } from '../harness/children.ts';
import type { Submit } from '../load/loops.ts';
import { SERVER_FLAGS } from '../load/processes.ts';
import { microbenchmark } from './service.ts';

/**
 * The number of records: ten tables of a million. A record that was never changed takes no memory.
 */
const RECORDS = 10_000_000;

export type Color = 'blue' | 'red';

/** Running sites. */
export interface Sites {
  /** Creates a client of the nearest site, with the distance of the paper's Table 3. */
  clientAt(place: Site): Promise<Client<RedBlueLevels>>;
  close(): Promise<void>;
}

/** Starts so many of the five sites. */
export async function startSites(sites: number): Promise<Sites> {
  const server = startChild(new URL('server.ts', import.meta.url), [String(sites)], [SERVER_FLAGS]);
  const { urls } = await answer<{ urls: readonly string[] }>(server);
  const ways: LatencyProxy[] = [];
  const clients: Client<RedBlueLevels>[] = [];
  return {
    async clientAt(place) {
      const site = nearestSite(place, sites);
      let url = urls[SITES.indexOf(site)] as string;
      if (place !== site) {
        const way = await startLatencyProxy(url, roundTripMs(place, site));
        ways.push(way);
        url = way.url;
      }
      const binding = redblue(microbenchmark, { url, WebSocket });
      await binding.ready;
      const client = createClient(binding);
      clients.push(client);
      return client;
    },
    async close() {
      await Promise.all(clients.map((client) => client.close()));
      await Promise.all(ways.map((way) => way.close()));
      await ended(server);
    },
  };
}

/**
 * Changes one record after the other, drawn from the seed, by an operation of the color that
 * `colorOf` returns.
 */
export function toucher(
  client: Client<RedBlueLevels>,
  seed: number,
  colorOf: (draw: number) => Color,
): Submit {
  const random = seeded(seed);
  return () => {
    const args = { record: String(wholeBetween(random, 0, RECORDS - 1)) };
    const operation =
      colorOf(random()) === 'red' ? microbenchmark.touchRed(args) : microbenchmark.touchBlue(args);
    return client.invoke(operation, { levels: ['strong'] });
  };
}
