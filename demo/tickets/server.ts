/**
 * The ticket shop's backend in one process: three sites with the papers' delays, and the page for
 * it.
 */
import type { RequestListener } from 'node:http';
import { serve, type RunningServer } from 'correctables/server';
import { fileListener } from '../page-cache/page-files.ts';
import { withPageHeaders } from '../page-headers.ts';
import { SITES, type Options } from './options.ts';
import { buildPage } from './page/build.ts';
import type { Throttle } from 'correctables/operations';
import { rightsService } from './rights-service.ts';
import { serviceAt } from './service.ts';

export interface ShopOptions {
  /** The port on the loopback interface. Default: 0, any free port */
  readonly port?: number;
  readonly wan?: Options['wan'];
  /** How tickets are sold. Default: from a queue */
  readonly stock?: Options['stock'];
  /** The throttle of sales from a queue at each site. Default: no throttle */
  readonly pace?: Throttle;
}

/** The sites, their red leader and the page that sells from them. */
export type RunningShop = Pick<RunningServer, 'url' | 'siteUrl' | 'close'>;

/** Starts the sites without a page. */
export function startBackend(options: ShopOptions = {}): Promise<RunningShop> {
  return start(options);
}

/**
 * The limit of purchases in flight at a site of the page. It is so low that a rush of customers
 * exceeds it.
 */
const IN_FLIGHT_MAX = 100;

/** Builds the page, then starts the sites and serves both at one address. */
export async function startShop(options: ShopOptions = {}): Promise<RunningShop> {
  return start(
    { ...options, maxInFlight: IN_FLIGHT_MAX },
    withPageHeaders(fileListener(await buildPage())),
  );
}

function start(
  options: ShopOptions & { maxInFlight?: number },
  page?: RequestListener,
): Promise<RunningShop> {
  const { port = 0, wan = 'paper', stock = 'queue', pace, ...limits } = options;
  const latency = wan === 'none' ? wan : 'eu-us';
  const service = stock === 'rights' ? rightsService : serviceAt(pace);
  return serve({ service, sites: SITES, redLeader: 'ireland', latency, port, page, ...limits });
}
