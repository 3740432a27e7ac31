/** Puts gateways on a port: one HTTP server, one websocket path a site, health and site directory beside them. */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import { WebSocketServer } from 'ws';
import { CorrectableError } from '../../correctable/errors.ts';
import type { Gateway } from './gateway.ts';
import { createHttpHandler, HTTP_PATHS } from './http.ts';
import { IdlePoll } from './idle-poll.ts';
import { isAllowedHost, isAllowedOrigin, isLoopbackHost } from './origins.ts';
import { WsSocket } from './socket.ts';

/** Where to listen and what to host. */
export interface ListenOptions {
  /** One gateway per site; the name is the path, for example `irl` for `/irl`. */
  readonly sites: Readonly<Record<string, Gateway>>;
  /** Address to bind. Default: 127.0.0.1, reachable from this machine only. */
  readonly host?: string | undefined;
  /** Default 0: any free port. */
  readonly port?: number | undefined;
  /** Listens also where others can reach it although a gateway lets everybody in. */
  readonly allowUnauthenticated?: boolean | undefined;
  /**
   * How long the thread stays awake after an answer and looks for more to do, in microseconds, up to 100 000. Default 0:
   * it sleeps at once. Shortens the round trips of clients that wait for each answer, at the price of processor time.
   */
  readonly idlePollUs?: number | undefined;
  /** An HTTP server to use instead of an own one. It is started if it does not listen yet, and never closed. */
  readonly server?: Server | undefined;
}

/** Gateways on a port. */
export interface GatewayListener {
  /** Base address for HTTP, for example `http://127.0.0.1:7070`. */
  readonly url: string;
  /** The websocket address of a site. Throws `INVALID_ARGUMENT` if there is no such site. */
  siteUrl(name: string): string;
  /**
   * Answers `/health`, `/ready`, `/sites` and `/metrics`; returns false, having done nothing, for other paths. For use with an own `server`,
   * whose other requests belong to the caller.
   */
  handleHttp(request: IncomingMessage, response: ServerResponse): boolean;
  /** Drains and closes all gateways, then the port. */
  close(options?: { readonly drainMs?: number }): Promise<void>;
}

const SITE_NAME = /^[\w-]+$/;
const STATUS = { 400: 'Bad Request', 403: 'Forbidden', 404: 'Not Found', 503: 'Service Unavailable' } as const;

/**
 * Listens for clients of several sites on one port.
 *
 * @example
 * const listener = await listenGateways({ port: 7070, sites: { irl: createGateway({ binding: memory() }) } });
 * listener.siteUrl('irl'); // 'ws://127.0.0.1:7070/irl'
 */
export async function listenGateways(options: ListenOptions): Promise<GatewayListener> {
  const { host = '127.0.0.1', port = 0, sites } = options;
  checkSites(sites);
  const idlePoll = new IdlePoll(options.idlePollUs ?? 0);
  if (!isLoopbackHost(host) && options.allowUnauthenticated !== true) checkAuthenticated(host, sites);
  const server = options.server ?? createServer();
  const handleHttp = createHttpHandler(sites, host);
  if (options.server === undefined) {
    server.on('request', (request, response) => {
      if (!handleHttp(request, response)) response.writeHead(404).end();
    });
  }
  const detach = attachUpgrades(server, { sites, boundTo: host, exclusive: options.server === undefined, idlePoll });
  if (!server.listening) await listen(server, host, port);
  const { port: boundPort } = server.address() as AddressInfo;
  const authority = `${host.includes(':') ? `[${host}]` : host}:${boundPort}`;
  return {
    url: `http://${authority}`,
    siteUrl(name) {
      if (Object.hasOwn(sites, name)) return `ws://${authority}/${name}`;
      throw new CorrectableError('INVALID_ARGUMENT', `no site ${name}, only ${Object.keys(sites).join(', ')}`);
    },
    handleHttp,
    async close(closing) {
      await Promise.all(Object.values(sites).map((gateway) => gateway.close(closing)));
      detach();
      if (options.server === undefined) await closeServer(server);
    },
  };
}

function checkSites(sites: Readonly<Record<string, Gateway>>): void {
  for (const name of Object.keys(sites)) {
    if (SITE_NAME.test(name) && !HTTP_PATHS.includes(name)) continue;
    const message = `sites: "${name}" cannot be a path; use letters, digits, - and _, and none of ${HTTP_PATHS.join(', ')}`;
    throw new CorrectableError('INVALID_ARGUMENT', message, { field: 'sites' });
  }
}

function checkAuthenticated(host: string, sites: Readonly<Record<string, Gateway>>): void {
  const open = Object.keys(sites).filter((name) => sites[name]?.authenticated === false);
  if (open.length === 0) return;
  const message = `host: ${host} is reachable by others, and ${open.join(', ')} lets everybody in: give the gateway authenticate, or allowUnauthenticated here`;
  throw new CorrectableError('INVALID_ARGUMENT', message, { field: 'host' });
}

interface Attachment {
  readonly sites: Readonly<Record<string, Gateway>>;
  readonly boundTo: string;
  /** Whether nobody else takes upgrades of this server. */
  readonly exclusive: boolean;
  readonly idlePoll: IdlePoll;
}

function attachUpgrades(server: Server, { sites, boundTo, exclusive, idlePoll }: Attachment): () => void {
  const sockets = new Map(Object.entries(sites).map(([name, gateway]) => [`/${name}`, socketServer(gateway)]));
  const onUpgrade = (request: IncomingMessage, socket: Duplex, head: Buffer): void => {
    const site = sockets.get(pathOf(request));
    if (site === undefined) {
      if (exclusive) refuse(socket, 404, 'no such site');
      return;
    }
    const { gateway, websockets } = site;
    const { host, origin } = request.headers;
    if (!isAllowedHost(host, boundTo)) return refuse(socket, 403, 'this server is not called so');
    if (!isAllowedOrigin(origin, host, gateway.origins)) return refuse(socket, 403, 'the origin is not listed');
    if (!gateway.accepting) return refuse(socket, 503, 'try again later');
    if (!offersOneOf(gateway.subprotocols, request)) {
      return refuse(socket, 400, `the subprotocol must be one of ${gateway.subprotocols.join(', ')}`);
    }
    websockets.handleUpgrade(request, socket, head, (websocket) => {
      gateway.accept(new WsSocket(websocket, idlePoll), { remoteAddress: request.socket.remoteAddress, origin });
    });
  };
  server.on('upgrade', onUpgrade);
  return () => server.off('upgrade', onUpgrade);
}

function socketServer(gateway: Gateway): { gateway: Gateway; websockets: WebSocketServer } {
  const websockets = new WebSocketServer({
    noServer: true,
    clientTracking: false,
    perMessageDeflate: false,
    // A frame is answered before the next one is read, so that its client can go on meanwhile.
    allowSynchronousEvents: false,
    maxPayload: gateway.limits.frameBytesMax,
    handleProtocols: (offered) => gateway.subprotocols.find((name) => offered.has(name)) ?? false,
  });
  return { gateway, websockets };
}

function offersOneOf(subprotocols: readonly string[], request: IncomingMessage): boolean {
  const offered = (request.headers['sec-websocket-protocol'] ?? '').split(',').map((name) => name.trim());
  return subprotocols.some((name) => offered.includes(name));
}

function refuse(socket: Duplex, status: keyof typeof STATUS, reason: string): void {
  const headers = `Connection: close\r\nContent-Type: text/plain\r\nContent-Length: ${Buffer.byteLength(reason)}`;
  socket.on('error', () => socket.destroy());
  socket.end(`HTTP/1.1 ${status} ${STATUS[status]}\r\n${headers}\r\n\r\n${reason}`);
}

function pathOf(request: IncomingMessage): string {
  return (request.url ?? '/').split('?', 1)[0] as string;
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
