/**
 * Serves gateways on a port: one HTTP server, with a websocket path for each
 * site.
 */
import type {
  IncomingMessage,
  RequestListener,
  Server,
  ServerResponse,
} from 'node:http';
import { Server as TlsServer } from 'node:tls';
import {
  check,
  createInvalidArgumentError,
} from '../../../correctable/errors.ts';
import {
  checkOptionTypes,
  checkOptionNames,
  hasMethods,
  isNonEmptyString,
  isRecord,
  type OptionNamesOf,
} from '../../../correctable/validate.ts';
import type { Gateway } from '../gateway.ts';
import {
  HTTP_PATHS,
  createHttpHandler,
  type SiteAddress,
} from './http-handler.ts';
import type { StoreMetric } from './store-metric.ts';
import { respondEmpty, createHttpServer, guardPage } from './http-server.ts';
import { normalizeHost } from '../context/ip-addresses.ts';
import { guardLogger, silentLogger, type Logger } from '../context/logger.ts';
import { ServerLocation } from './listening-address.ts';
import { listenOnAddress } from '../../listening/listen-on-address.ts';
import {
  checkOperatorToken,
  reportMissingToken,
  type OperatorToken,
} from './operator-token.ts';
import { RequestGuard } from './request-guard.ts';
import { attachUpgrades } from './websocket-upgrades.ts';
import { checkLogger } from '../validate-options.ts';

const SITE_NAME = /^[\w-]+$/;
const MAX_PORT = 65_535;

const CALL =
  'listenGateways({ sites: { ireland: createGateway({ binding }) } })';

/** Options of `listenGateways`. */
export interface ListenOptions {
  /**
   * One gateway for each site. The name is the path: `ireland` is served at
   * `/ireland`.
   */
  readonly sites: Readonly<Record<string, Gateway>>;
  /**
   * Address to listen on. Default: `127.0.0.1`, which only this machine can
   * reach
   */
  readonly host?: string | undefined;
  /** Port to listen on. Default: 0, any free port */
  readonly port?: number | undefined;
  /**
   * Listens on addresses that others can reach even if a gateway has no
   * `authenticate`. Default: `false`
   */
  readonly allowUnauthenticated?: boolean | undefined;
  /**
   * Opens `/metrics` and the details of `/health` to requests with this token
   * (`Authorization: Bearer …`), at least 16 characters of ASCII, and to no
   * others. A function returns it for each request, so that it can be replaced;
   * the `logger` gets its error if it cannot. Default: they are open if no
   * gateway has `authenticate`, and closed otherwise
   */
  readonly operatorToken?: OperatorToken | undefined;
  /** Metrics of the stores behind the gateways, for `/metrics`. */
  readonly metrics?: readonly StoreMetric[] | undefined;
  /**
   * Returns the sites that `/sites` lists, other processes among them, so that
   * clients can move there. Default: the sites of this listener
   */
  readonly siteAddresses?: (() => readonly SiteAddress[]) | undefined;
  /**
   * Handles the HTTP requests for other paths, for example with a page. Not
   * with `server`. Default: 404
   */
  readonly page?: RequestListener | undefined;
  /**
   * Your own server of `node:http` or `node:https`. It is started if it does
   * not listen yet, and never closed. Its address counts, not `host`. Its other
   * `upgrade` listeners, if any, handle upgrades to a path that is no site.
   */
  readonly server?: Server | undefined;
  /**
   * Receives warnings about refused requests, and errors of `page`. Default:
   * none are logged
   */
  readonly logger?: Logger | undefined;
}

const OPTIONS: OptionNamesOf<ListenOptions> = {
  sites: true,
  host: true,
  port: true,
  allowUnauthenticated: true,
  operatorToken: true,
  metrics: true,
  siteAddresses: true,
  page: true,
  server: true,
  logger: true,
};

/** Gateways on a port. */
export interface GatewayListener {
  /**
   * Base address for HTTP, for example `http://127.0.0.1:7070`; `https://…` on
   * a server with TLS.
   */
  readonly url: string;
  /**
   * Returns the websocket address of a site: `ws://…`, or `wss://…` on a server
   * with TLS. On a Unix socket it is `ws+unix:…`, for a proxy in front. The
   * package `ws` accepts that address, `remote` and `redblue` do not.
   *
   * @throws CorrectableError `INVALID_ARGUMENT` if there is no such site.
   */
  readonly siteUrl: (name: string) => string;
  /**
   * Handles `/health`, `/ready`, `/sites` and `/metrics`. Returns `false` for
   * other paths and does nothing. Use it with your own `server`, whose other
   * requests you handle.
   */
  readonly handleHttp: (
    request: IncomingMessage,
    response: ServerResponse,
  ) => boolean;
  /** Drains and closes all gateways, then the port. */
  readonly close: (options?: { readonly drainMs?: number }) => Promise<void>;
}

const DEFAULT_HOST = '127.0.0.1';

/**
 * Listens for clients of several sites on one port. Rejects with the system's
 * error if the port is in use. If this machine does not have the address yet,
 * or its name is not known yet, it retries for 30 s.
 *
 * @throws CorrectableError `INVALID_ARGUMENT` with the name of the invalid
 * option.
 * @example
 * const listener = await listenGateways({
 *   port: 7070,
 *   sites: { ireland: createGateway({ binding: memory() }) },
 * });
 * listener.siteUrl('ireland'); // 'ws://127.0.0.1:7070/ireland'
 */
export async function listenGateways(
  options: ListenOptions,
): Promise<GatewayListener> {
  checkOptions(options);
  const { sites, server: value, operatorToken } = options;
  const server = value ?? createHttpServer(sites);
  const openSites = Object.keys(sites).filter(
    (name) => sites[name]?.requiresAuthentication === false,
  );
  const location = new ServerLocation(
    server,
    options.allowUnauthenticated === true ? [] : openSites,
  );
  const logger = guardLogger(options.logger ?? silentLogger);
  const guard = new RequestGuard(location, logger);
  const handleHttp = createHttpHandler(
    sites,
    guard,
    options.metrics,
    options.siteAddresses,
    operatorToken === undefined
      ? undefined
      : reportMissingToken(operatorToken, logger),
  );
  if (value === undefined)
    handleRequests(
      server,
      handleHttp,
      options.page && guardPage(options.page, logger),
    );
  const leaveUpgrades = attachUpgrades(server, sites, guard);
  const detach = (): void => {
    leaveUpgrades();
    location.stop();
  };
  const host = server.listening
    ? undefined
    : normalizeHost(options.host ?? DEFAULT_HOST);
  try {
    await start(server, location, logger, { host, port: options.port ?? 0 });
  } catch (error) {
    detach();
    throw error;
  }
  return {
    url: location.getBaseUrl(getScheme(server, 'http'), host),
    siteUrl(name) {
      if (Object.hasOwn(sites, name))
        return `${location.getBaseUrl(getScheme(server, 'ws'), host)}/${name}`;
      throw createInvalidArgumentError(
        'site',
        `'${name}' is not one of ${Object.keys(sites).join(', ')}`,
      );
    },
    handleHttp,
    async close(closing) {
      await Promise.all(
        Object.values(sites).map((gateway) => gateway.close(closing)),
      );
      detach();
      if (value === undefined) await closeServer(server);
    },
  };
}

/** Returns the scheme of the server's addresses. */
function getScheme(server: Server, plain: 'http' | 'ws'): string {
  return server instanceof TlsServer ? `${plain}s` : plain;
}

function handleRequests(
  server: Server,
  handleHttp: GatewayListener['handleHttp'],
  others: RequestListener | undefined,
): void {
  server.on('request', (request, response) => {
    if (handleHttp(request, response)) return;
    if (others === undefined) respondEmpty(response, 404);
    else others(request, response);
  });
}

/**
 * Listens, unless the server listens already. Rejects if the server would be
 * exposed.
 */
async function start(
  server: Server,
  location: ServerLocation,
  logger: Logger,
  { host, port }: { readonly host: string | undefined; readonly port: number },
): Promise<void> {
  if (host === undefined)
    return location.boundTo === undefined
      ? undefined
      : location.assertNotExposed(location.boundTo, 'server');
  location.assertNotExposed(host, 'host');
  await listenOnAddress(server, {
    host,
    port,
    onWaiting: (message) => logger.warn({}, message),
  });
  // A name may stand for an address that others can reach.
  if (!location.isExposed || location.boundTo === undefined) return;
  const { boundTo } = location;
  await closeServer(server);
  location.assertNotExposed(boundTo, 'host');
}

function closeServer(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });
}

/**
 * @throws CorrectableError `INVALID_ARGUMENT` naming the option that does not
 * fit
 */
function checkOptions(
  options: Partial<Record<keyof ListenOptions, unknown>>,
): void {
  check(!isGateway(options), 'sites', `is an option: write ${CALL}`);
  checkOptionNames(options, { call: CALL }, OPTIONS);
  const { sites, host, port, page, server, logger } = options;
  checkSites(sites);
  checkOptionTypes(options, 'boolean', 'allowUnauthenticated');
  // A host is neither a URL nor has a port.
  const isHost =
    host === undefined ||
    (isNonEmptyString(host) && !/[\s/]|^[^:]*:\d*$|\]:/.test(host));
  const example = 'for example 127.0.0.1; 0.0.0.0 stands for all';
  check(
    isHost,
    'host',
    `must be an address or a name without a port, ${example}`,
  );
  const isPort =
    port === undefined ||
    (typeof port === 'number' &&
      Number.isInteger(port) &&
      port >= 0 &&
      port <= MAX_PORT);
  check(
    isPort,
    'port',
    `must be an integer from 0, any free one, to ${MAX_PORT}, not ${String(port)}`,
  );
  checkOptionTypes(options, 'function', 'page', 'siteAddresses');
  const isServer =
    server === undefined ||
    hasMethods(server, 'on', 'listeners', 'listen', 'address');
  check(
    isServer,
    'server',
    'must be a server of node:http or node:https, or none',
  );
  const isAsked = page === undefined || server === undefined;
  check(
    isAsked,
    'page',
    'is not asked with a server of your own: answer in its own request listener',
  );
  checkLogger(logger);
  checkOperatorToken(options.operatorToken);
}

function checkSites(sites: unknown): void {
  check(
    isRecord(sites) && Object.keys(sites).length > 0,
    'sites',
    `name at least one, as ${CALL}`,
  );
  for (const [name, gateway] of Object.entries(sites)) {
    const rule = `use letters, digits, - and _, and none of ${HTTP_PATHS.join(', ')}`;
    check(
      SITE_NAME.test(name) && !HTTP_PATHS.includes(name),
      'sites',
      `"${name}" cannot be a path; ${rule}`,
    );
    const field = `sites.${name}`;
    check(
      isGateway(gateway),
      field,
      'must be a gateway, made by createGateway',
    );
    const { state } = gateway.status();
    const isOpen = state === 'serving' || state === 'waiting';
    check(
      isOpen,
      field,
      `is ${state} and accepts no clients: create another gateway`,
    );
  }
}

function isGateway(value: unknown): value is Gateway {
  return hasMethods(value, 'accept', 'status');
}
