/** Serves gateways on a port: one HTTP server, with a websocket path for each site. */
import type { IncomingMessage, RequestListener, Server, ServerResponse } from 'node:http';
import { Server as TlsServer } from 'node:tls';
import { createInvalidArgumentError } from '../../../correctable/errors.ts';
import { createHttpHandler } from './http-handler.ts';
import { respondEmpty, createHttpServer, guardPage } from './http-server.ts';
import { normalizeHost } from '../context/ip-addresses.ts';
import { guardLogger, type Logger } from '../context/logger.ts';
import { readListenOptions, type ListenOptions } from './listen-options.ts';
import { ServerLocation } from './listening-address.ts';
import { listenOnAddress } from '../../../protocol/listen-on-address.ts';
import { reportMissingToken } from './operator-token.ts';
import { RequestGuard } from './request-guard.ts';
import { attachUpgrades } from './websocket-upgrades.ts';

/** Gateways on a port. */
export interface GatewayListener {
  /**
   * Base address for HTTP, for example `http://127.0.0.1:7070`; `https://…` on a server with TLS.
   */
  readonly url: string;
  /**
   * Returns the websocket address of a site: `ws://…`, or `wss://…` on a server with TLS. On a Unix
   * socket it is `ws+unix:…`, for a proxy in front. The package `ws` accepts that address, `remote`
   * and `redblue` do not.
   *
   * @throws CorrectableError `INVALID_ARGUMENT` if there is no such site.
   */
  readonly siteUrl: (name: string) => string;
  /**
   * Handles `/health`, `/ready`, `/sites` and `/metrics`. Returns `false` for other paths and does
   * nothing. Use it with your own `server`, whose other requests you handle.
   */
  readonly handleHttp: (request: IncomingMessage, response: ServerResponse) => boolean;
  /** Drains and closes all gateways, then the port. */
  readonly close: (options?: { readonly drainMs?: number }) => Promise<void>;
}

/**
 * Listens for clients of several sites on one port. Rejects with the system's error if the port is
 * in use. If this machine does not have the address yet, or its name is not known yet, it retries
 * for 30 s.
 *
 * @throws CorrectableError `INVALID_ARGUMENT` with the name of the invalid option.
 * @example
 * const listener = await listenGateways({
 *   port: 7070,
 *   sites: { ireland: createGateway({ binding: memory() }) },
 * });
 * listener.siteUrl('ireland'); // 'ws://127.0.0.1:7070/ireland'
 */
export async function listenGateways(options: ListenOptions): Promise<GatewayListener> {
  const resolved = readListenOptions(options);
  const { sites, server: value, operatorToken, page } = resolved;
  const server = value ?? createHttpServer(sites);
  const openSites = Object.keys(sites).filter(
    (name) => sites[name]?.requiresAuthentication === false,
  );
  const location = new ServerLocation(server, resolved.allowUnauthenticated ? [] : openSites);
  const logger = guardLogger(resolved.logger);
  const guard = new RequestGuard(location, logger);
  const handleHttp = createHttpHandler(
    sites,
    guard,
    resolved.metrics,
    resolved.siteAddresses,
    operatorToken === undefined ? undefined : reportMissingToken(operatorToken, logger),
  );
  if (value === undefined) handleRequests(server, handleHttp, page && guardPage(page, logger));
  const leaveUpgrades = attachUpgrades(server, sites, guard);
  const detach = (): void => {
    leaveUpgrades();
    location.stop();
  };
  const host = server.listening ? undefined : normalizeHost(resolved.host);
  try {
    await start(server, location, logger, { host, port: resolved.port });
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
      await Promise.all(Object.values(sites).map((gateway) => gateway.close(closing)));
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

/** Listens, unless the server listens already. Rejects if the server would be exposed. */
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
