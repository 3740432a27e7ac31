/**
 * The sites of a case study in this process, each reached over a websocket by the users beside it.
 */
import type { RequestListener } from 'node:http';
import { createClient, type Client } from 'correctables';
import { redblue, type RedBlueLevels } from 'correctables/bindings/redblue';
import { serve, type Service } from 'correctables/server';
import { WebSocket } from 'ws';
import { nearestSite, ROUND_TRIPS_MS, roundTripMs, SITES, type Site } from './sites.ts';

export interface DeploymentOptions {
  readonly service: Service;
  /** So many sites, the first of them; the first one orders what is red. */
  readonly sites: number;
  readonly wan: 'paper' | 'none';
  /** Where to listen, on the loopback interface; 0 (default) for any free port. */
  readonly port?: number | undefined;
  /** Answers the HTTP requests that are not the sites' own. */
  readonly page?: RequestListener | undefined;
}

/** A site as the users of one place reach it. */
export interface SiteDoor {
  /** Where the users are. */
  readonly site: Site;
  readonly client: Client<RedBlueLevels>;
  /**
   * What the way to the site and back takes them, in milliseconds: nothing where it is beside them.
   */
  readonly awayMs: number;
}

export interface Deployment {
  readonly url: string;
  /** One for the users beside each site. */
  readonly doors: readonly [SiteDoor, ...SiteDoor[]];
  /** Broken invariants that sites have reported while they were at work. */
  readonly alarms: readonly string[];
  close(): Promise<void>;
}

/**
 * Long enough for a red operation that is sent back several times over the widest of the delays.
 */
const TIMEOUT_MS = 60_000;
/**
 * How long a site waits for what another has shown: after a load, all of it is still on its way.
 */
const SITE_WAIT_MS = 30_000;

/** Starts the sites and connects to each. */
export async function openDeployment(options: DeploymentOptions): Promise<Deployment> {
  const { service, wan, port = 0, page } = options;
  const alarms: string[] = [];
  const server = await serve({
    service,
    sites: SITES.slice(0, options.sites) as [Site, ...Site[]],
    redLeader: SITES[0],
    latency: wan === 'none' ? wan : ROUND_TRIPS_MS,
    siteTimeoutMs: SITE_WAIT_MS,
    checkInvariants: true,
    onAlarm: (alarm) => {
      if (alarm.kind === 'invariant-broken') alarms.push(alarm.message);
      else process.emitWarning(alarm.message);
    },
    port,
    page,
  });
  const doorTo = (site: Site): SiteDoor => {
    const binding = redblue(service.contract, { url: server.siteUrl(site), WebSocket });
    return { site, client: createClient(binding, { timeoutMs: TIMEOUT_MS }), awayMs: 0 };
  };
  const doors = server.sites.map(doorTo) as unknown as Deployment['doors'];
  return {
    url: server.url,
    doors,
    alarms,
    async close() {
      await Promise.all(doors.map(({ client }) => client.close()));
      await server.close();
    },
  };
}

/**
 * Doors for users at all five places, however many sites there are: those without one of their own
 * ask the nearest.
 */
export function doorsEverywhere(doors: readonly SiteDoor[]): readonly SiteDoor[] {
  return SITES.map((place) => {
    const site = nearestSite(place, doors.length);
    const door = doors.find((item) => item.site === site) as SiteDoor;
    return { ...door, site: place, awayMs: roundTripMs(place, site) };
  });
}
