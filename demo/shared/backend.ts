/** Starts a service at three sites in one process, with the papers' delays between them. */
import type { RequestListener } from 'node:http';
import { serve, type RunningServer, type ServeOptions } from 'correctables/server';
import { ROUND_TRIPS_MS, type Place, type Placement } from '../../engines/wan.ts';
import { SITES, type WanPreset } from './options.ts';

interface Sites {
  readonly sites: readonly [Place, ...Place[]];
  /** The site that orders strong reads. */
  readonly redLeader: Place;
}

const PLACED: Readonly<Record<Placement, Sites>> = {
  paper: { sites: SITES, redLeader: 'ireland' },
  twissandra: { sites: ['virginia', 'nca', 'ore'], redLeader: 'nca' },
};

export interface BackendOptions {
  readonly service: ServeOptions['service'];
  readonly wan: WanPreset;
  /** The placement of the sites. Default: `paper` */
  readonly placement?: Placement | undefined;
  /** The port on the loopback interface. Default: 0, any free port */
  readonly port?: number;
  /** Answers the HTTP requests that are not the backend's own. */
  readonly page?: RequestListener | undefined;
}

/** Starts the sites. */
export function startSites(options: BackendOptions): Promise<RunningServer<Place>> {
  const { service, wan, placement = 'paper', port = 0, page } = options;
  const delays = wan === 'none' ? wan : ROUND_TRIPS_MS;
  return serve({ service, ...PLACED[placement], latency: delays, port, page });
}
