/** Puts gateways on a port: one HTTP server, one websocket path a site, health and site directory beside them. */
import type { IncomingMessage, RequestListener, Server, ServerResponse } from 'node:http';
import { Server as TlsServer } from 'node:tls';
import { createInvalidArgumentError } from '../../../correctable/errors.ts';
import {
  checkOptionTypes,
  checkOptionNames,
  hasMethods,
  isNonEmptyString,
  isRecord,
  type OptionNamesOf,
} from '../../../correctable/validate.ts';
import type { Gateway } from '../gateway.ts';
import { HTTP_PATHS, createHttpHandler } from './http-handler.ts';
import type { StoreMetric } from './metrics.ts';
import { respondEmpty, createHttpServer, guardPage } from './http-server.ts';
import { BusyPoll } from '../connection/busy-poll.ts';
import { normalizeHost } from '../context/ip-addresses.ts';
import { guardLogger, silentLogger, type Logger } from '../context/logger.ts';
import { ServerLocation } from './server-location.ts';
import { attachUpgrades } from './websocket-upgrades.ts';
import { checkFunction, checkLogger } from '../validate-options.ts';

const SITE_NAME = /^[\w-]+$/;
const MAX_PORT = 65_535;

const CALL = 'listenGateways({ sites: { ireland: createGateway({ binding }) } })';

/** Where to listen and what to host. */
export interface ListenOptions {
  /** One gateway per site; the name is the path, for example `ireland` for `/ireland`. */
  readonly sites: Readonly<Record<string, Gateway>>;
  /** Address to bind. Default: 127.0.0.1, reachable from this machine only. */
  readonly host?: string | undefined;
  /** Default 0: any free port. */
  readonly port?: number | undefined;
  /** Listens also where others can reach it although a gateway lets everybody in. */
  readonly allowUnauthenticated?: boolean | undefined;
  /** Counters of what stands behind the gateways, for `/metrics`. */
  readonly metrics?: readonly StoreMetric[] | undefined;
  /**
   * How long the thread stays awake after an answer and looks for more to do, in microseconds, up to 100 000. Default 0:
   * it sleeps at once. Shortens the round trips of clients that wait for each answer, at the price of processor time.
   */
  readonly busyPollUs?: number | undefined;
  /** Answers the HTTP requests that are not the server's own, for example with a page. Default: 404. Not with `server`. */
  readonly page?: RequestListener | undefined;
  /**
   * An HTTP server to use instead of an own one, of `node:http` or `node:https`. It is started if it does not listen yet,
   * and never closed. Where it listens counts, not `host`. An upgrade to a path that is no site is left to its other
   * listeners for upgrades, if there are any.
   */
  readonly server?: Server | undefined;
  /** Told of a page that fails. Default: silence. */
  readonly logger?: Logger | undefined;
}

const OPTIONS: OptionNamesOf<ListenOptions> = {
  sites: true,
  host: true,
  port: true,
  allowUnauthenticated: true,
  metrics: true,
  busyPollUs: true,
  page: true,
  server: true,
  logger: true,
};

/** Gateways on a port. */
export interface GatewayListener {
  /** Base address for HTTP, for example `http://127.0.0.1:7070`; `https://…` on a server with TLS. */
  readonly url: string;
  /**
   * The websocket address of a site: `ws://…`, or `wss://…` on a server with TLS. On a socket in the file system it is
   * `ws+unix:…`, which the package `ws` takes, and `remote` and `redblue` do not: such a socket is for a proxy in front.
   *
   * @throws CorrectableError `INVALID_ARGUMENT` if there is no such site
   */
  readonly siteUrl: (name: string) => string;
  /**
   * Answers `/health`, `/ready`, `/sites` and `/metrics`; returns false, having done nothing, for other paths. For use
   * with an own `server`, whose other requests belong to the caller.
   */
  readonly handleHttp: (request: IncomingMessage, response: ServerResponse) => boolean;
  /** Drains and closes all gateways, then the port. */
  readonly close: (options?: { readonly drainMs?: number }) => Promise<void>;
}

const DEFAULT_HOST = '127.0.0.1';

/**
 * Listens for clients of several sites on one port.
 *
 * @throws CorrectableError `INVALID_ARGUMENT` naming the option that does not fit; the system's error when the port is
 * taken.
 * @example
 * const listener = await listenGateways({ port: 7070, sites: { ireland: createGateway({ binding: memory() }) } });
 * listener.siteUrl('ireland'); // 'ws://127.0.0.1:7070/ireland'
 */
export async function listenGateways(options: ListenOptions): Promise<GatewayListener> {
  checkOptions(options);
  const { sites, server: value } = options;
  const busyPoll = new BusyPoll(options.busyPollUs ?? 0);
  const server = value ?? createHttpServer(sites);
  const location = new ServerLocation(
    server,
    options.allowUnauthenticated === true ? [] : findUnauthenticatedSites(sites),
  );
  const handleHttp = createHttpHandler(sites, location, options.metrics);
  if (value === undefined) handleRequests(server, handleHttp, options);
  const leaveUpgrades = attachUpgrades(server, { sites, location, busyPoll });
  const detach = (): void => {
    leaveUpgrades();
    location.stop();
  };
  const host = server.listening ? undefined : normalizeHost(options.host ?? DEFAULT_HOST);
  try {
    await start(server, location, host, options.port ?? 0);
  } catch (error) {
    detach();
    throw error;
  }
  return {
    url: location.getBaseUrl(getScheme(server, 'http'), host),
    siteUrl(name) {
      if (Object.hasOwn(sites, name)) return `${location.getBaseUrl(getScheme(server, 'ws'), host)}/${name}`;
      throw createInvalidArgumentError('site', `'${name}' is not one of ${Object.keys(sites).join(', ')}`);
    },
    handleHttp,
    async close(closing) {
      await Promise.all(Object.values(sites).map((gateway) => gateway.close(closing)));
      detach();
      if (value === undefined) await closeServer(server);
    },
  };
}

/** The scheme with which a server is reached. */
function getScheme(server: Server, plain: 'http' | 'ws'): string {
  return server instanceof TlsServer ? `${plain}s` : plain;
}

function findUnauthenticatedSites(sites: Readonly<Record<string, Gateway>>): string[] {
  return Object.keys(sites).filter((name) => sites[name]?.requiresAuthentication === false);
}

function handleRequests(
  server: Server,
  handleHttp: GatewayListener['handleHttp'],
  { page, logger = silentLogger }: ListenOptions,
): void {
  const others = page && guardPage(page, guardLogger(logger));
  server.on('request', (request, response) => {
    if (handleHttp(request, response)) return;
    if (others === undefined) respondEmpty(response, 404);
    else others(request, response);
  });
}

/** Listens, unless somebody has made the server listen already; in no case where it would be exposed. */
async function start(server: Server, location: ServerLocation, host: string | undefined, port: number): Promise<void> {
  if (host === undefined)
    return location.boundTo === undefined ? undefined : location.assertNotExposed(location.boundTo, 'server');
  location.assertNotExposed(host, 'host');
  await listen(server, host, port);
  // A name may stand for an address that others can reach.
  if (!location.isExposed || location.boundTo === undefined) return;
  const { boundTo } = location;
  await closeServer(server);
  location.assertNotExposed(boundTo, 'host');
}

function listen(server: Server, host: string, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, () => {
      server.off('error', reject);
      resolve();
    });
  });
}

function closeServer(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });
}

/** @throws CorrectableError `INVALID_ARGUMENT` naming the option that does not fit */
function checkOptions(options: Partial<Record<keyof ListenOptions, unknown>>): void {
  if (isGateway(options)) throw createInvalidArgumentError('sites', `is an option: write ${CALL}`);
  checkOptionNames(options, { call: CALL }, OPTIONS);
  const { sites, host, port, page, server, logger } = options;
  checkSites(sites);
  checkOptionTypes(options, 'boolean', 'allowUnauthenticated');
  // Neither a URL nor with a port.
  if (host !== undefined && (!isNonEmptyString(host) || /[\s/]|^[^:]*:\d*$|\]:/.test(host))) {
    const example = 'for example 127.0.0.1; 0.0.0.0 stands for all';
    throw createInvalidArgumentError('host', `must be an address or a name without a port, ${example}`);
  }
  if (port !== undefined && !isPort(port)) {
    throw createInvalidArgumentError(
      'port',
      `must be an integer from 0, any free one, to ${MAX_PORT}, not ${String(port)}`,
    );
  }
  checkFunction('page', page);
  if (server !== undefined && !hasMethods(server, 'on', 'listeners', 'listen', 'address')) {
    throw createInvalidArgumentError('server', 'must be a server of node:http or node:https, or none');
  }
  if (page !== undefined && server !== undefined) {
    throw createInvalidArgumentError(
      'page',
      'is not asked with a server of your own: answer in its own request listener',
    );
  }
  checkLogger(logger);
}

function checkSites(sites: unknown): void {
  if (!isRecord(sites) || Object.keys(sites).length === 0) {
    throw createInvalidArgumentError('sites', `name at least one, as ${CALL}`);
  }
  for (const [name, gateway] of Object.entries(sites)) {
    if (!SITE_NAME.test(name) || HTTP_PATHS.includes(name)) {
      const paths = HTTP_PATHS.join(', ');
      throw createInvalidArgumentError(
        'sites',
        `"${name}" cannot be a path; use letters, digits, - and _, and none of ${paths}`,
      );
    }
    checkGateway(`sites.${name}`, gateway);
  }
}

function checkGateway(field: string, gateway: unknown): void {
  if (!isGateway(gateway)) throw createInvalidArgumentError(field, 'must be a gateway, made by createGateway');
  const { state } = gateway.status();
  if (state !== 'serving')
    throw createInvalidArgumentError(field, `is ${state} and accepts no clients: create another gateway`);
}

function isGateway(value: unknown): value is Gateway {
  return hasMethods(value, 'accept', 'status');
}

function isPort(value: unknown): boolean {
  return typeof value === 'number' && Number.isInteger(value) && value >= 0 && value <= MAX_PORT;
}
