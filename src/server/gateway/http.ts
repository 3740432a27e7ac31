/** HTTP beside the websockets: `/health` for load balancers, `/sites` for clients that look for the nearest site. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Gateway } from './gateway.ts';
import { isAllowedHost, isAllowedOrigin } from './origins.ts';

/** One site in the directory. */
export interface SiteEntry {
  readonly name: string;
  /** Websocket path on the same host and port. */
  readonly path: string;
  readonly levels: readonly string[];
  readonly contract?: { readonly name: string; readonly hash: string };
}

/** Makes the handler; it returns false for paths that are not its own. */
export function createHttpHandler(
  sites: Readonly<Record<string, Gateway>>,
  boundTo: string,
): (request: IncomingMessage, response: ServerResponse) => boolean {
  const origins = Object.values(sites).flatMap((gateway) => gateway.origins);
  return (request, response) => {
    const path = (request.url ?? '/').split('?', 1)[0];
    if (path !== '/health' && path !== '/sites') return false;
    const { host, origin } = request.headers;
    if (!isAllowedHost(host, boundTo) || !isAllowedOrigin(origin, host, origins)) {
      response.writeHead(403).end();
    } else if (request.method !== 'GET' && request.method !== 'HEAD') {
      response.writeHead(405, { allow: 'GET, HEAD' }).end();
    } else {
      if (origin !== undefined) response.setHeader('access-control-allow-origin', origin);
      response.setHeader('vary', 'origin');
      if (path === '/health') answer(response, healthOf(sites));
      else answer(response, { status: 200, body: { sites: directoryOf(sites) } });
    }
    return true;
  };
}

interface Answer {
  readonly status: number;
  readonly body: unknown;
}

function answer(response: ServerResponse, { status, body }: Answer): void {
  response.writeHead(status, { 'content-type': 'application/json', 'cache-control': 'no-store' });
  response.end(JSON.stringify(body));
}

function healthOf(sites: Readonly<Record<string, Gateway>>): Answer {
  const entries = Object.entries(sites).map(([name, gateway]) => [name, gateway.status()] as const);
  const serving = entries.every(([, { state }]) => state === 'serving');
  return {
    status: serving ? 200 : 503,
    body: { status: serving ? 'ok' : 'draining', sites: Object.fromEntries(entries) },
  };
}

function directoryOf(sites: Readonly<Record<string, Gateway>>): SiteEntry[] {
  return Object.entries(sites).map(([name, { levels, contract }]) => ({
    name,
    path: `/${name}`,
    levels,
    ...(contract !== undefined && { contract }),
  }));
}
