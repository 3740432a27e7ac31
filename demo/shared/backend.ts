/** A service at three sites in one process, with the papers' delays between them. */
import type { RequestListener } from 'node:http';
import { serve, type RunningServer, type ServeOptions } from 'correctables/server';
import { SITES, type Site, type WanPreset } from './options.ts';

/** The site that orders strong reads. */
export const RED_LEADER = 'irl';

export interface BackendOptions {
  readonly service: ServeOptions['service'];
  readonly wan: WanPreset;
  /** Where to listen, on the loopback interface; 0 (default) for any free port. */
  readonly port?: number;
  /** Answers the HTTP requests that are not the backend's own. */
  readonly page?: RequestListener | undefined;
}

/** Starts the sites. */
export function startSites({ service, wan, port = 0, page }: BackendOptions): Promise<RunningServer<Site>> {
  return serve({ service, sites: SITES, redLeader: RED_LEADER, wan, port, page });
}
