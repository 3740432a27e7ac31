/**
 * HTTP beside the websockets: `/health` and `/ready`, `/sites` for clients, `/metrics` for
 * Prometheus.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { GatewayMetrics } from './metrics.ts';
import type { StoreMetric } from './store-metric.ts';
import type { Gateway } from '../gateway.ts';
import { RESPONSE_HEADERS, respondEmpty, canRespond, parsePath } from './http-server.ts';
import { HTTP_PATHS } from './http-paths.ts';
import { hasOperatorToken } from './operator-token.ts';
import type { RequestGuard } from './request-guard.ts';

/** The addresses at which clients reach a site that may be another process. */
export interface SiteAddress {
  readonly name: string;
  /** Its websocket address without the site's path: `wss://10.0.1.1:7420`. */
  readonly url: string;
  /** Whether this process is connected to the site, or is the site. */
  readonly isConnected: boolean;
}

type GatewaysBySite = Readonly<Record<string, Gateway>>;

interface HttpResponse {
  readonly status: number;
  readonly body: unknown;
  readonly type?: string;
}

const SERVER_ERROR: HttpResponse = {
  status: 500,
  body: { error: 'the server made a mistake' },
};

/** Creates the handler. It returns `false` for paths that are not its own. */
export function createHttpHandler(
  sites: GatewaysBySite,
  guard: RequestGuard,
  stores: readonly StoreMetric[] | undefined,
  siteAddresses: (() => readonly SiteAddress[]) | undefined,
  getOperatorToken: (() => string) | undefined,
): (request: IncomingMessage, response: ServerResponse) => boolean {
  const origins = Object.values(sites).flatMap((gateway) => gateway.origins);
  const metrics = new GatewayMetrics(sites, stores);
  const createResponse = async (
    request: IncomingMessage,
    first: string,
    second: string | undefined,
  ): Promise<HttpResponse> => {
    if (first === 'ready') return getReadiness(sites, second);
    if (first === 'sites')
      return {
        status: 200,
        body: { sites: listSites(sites, siteAddresses?.()) },
      };
    const isOperator = checkOperator(request, sites, getOperatorToken);
    if (first === 'health') return getHealth(sites, isOperator === true);
    if (isOperator === undefined)
      return {
        status: 503,
        body: {
          error: 'the token of operators cannot be used: see the log of the server',
        },
      };
    if (!isOperator) {
      const how = 'send the token of operators: Authorization: Bearer …';
      const none = 'set a token of operators (operatorToken, --operator-token-file) and send it';
      return {
        status: 401,
        body: { error: getOperatorToken === undefined ? none : how },
      };
    }
    return {
      status: 200,
      body: await metrics.text(),
      type: metrics.contentType,
    };
  };
  return (request, response) => {
    const [, first = '', second, ...rest] = parsePath(request).split('/');
    if (
      !HTTP_PATHS.includes(first) ||
      rest.length > 0 ||
      (second !== undefined && first !== 'ready')
    )
      return false;
    response.on('error', () => response.destroy());
    if (guard.findProblem(request, origins) !== undefined) {
      respondEmpty(response, 403);
    } else if (request.method !== 'GET' && request.method !== 'HEAD') {
      respondEmpty(response, 405, { allow: 'GET, HEAD' });
    } else {
      createResponse(request, first, second)
        .catch(() => SERVER_ERROR)
        .then((value) => sendResponse(response, value, request.headers.origin))
        .catch(() => response.destroy());
    }
    return true;
  };
}

/** Sends the answer unless another handler of the same server has answered meanwhile. */
function sendResponse(
  response: ServerResponse,
  { status, body, type = 'application/json' }: HttpResponse,
  origin: string | undefined,
): void {
  if (!canRespond(response)) return;
  response.writeHead(status, {
    vary: 'origin',
    ...(origin !== undefined && { 'access-control-allow-origin': origin }),
    'content-type': type,
    ...RESPONSE_HEADERS,
    ...(status === 401 && { 'www-authenticate': 'Bearer' }),
  });
  response.end(typeof body === 'string' ? body : JSON.stringify(body));
}

/**
 * Returns whether the request may see metrics and the details of the sites; `undefined` if the
 * operator token cannot be read. Without an operator token, everyone may see them if the sites
 * accept every client.
 */
function checkOperator(
  request: IncomingMessage,
  sites: GatewaysBySite,
  getOperatorToken: (() => string) | undefined,
): boolean | undefined {
  if (getOperatorToken === undefined)
    return Object.values(sites).every((gateway) => !gateway.requiresAuthentication);
  try {
    return hasOperatorToken(request, getOperatorToken);
  } catch {
    return undefined;
  }
}

function getHealth(sites: GatewaysBySite, isOperator: boolean): HttpResponse {
  const entries = Object.entries(sites).map(([name, gateway]) => [name, gateway.status()] as const);
  const states = entries.map(([, { state }]) => state);
  const isLive = states.every((state) => state === 'serving' || state === 'waiting');
  const status = isLive ? 'ok' : states.includes('stopped') ? 'stopped' : 'draining';
  return {
    status: isLive ? 200 : 503,
    body: isOperator ? { status, sites: Object.fromEntries(entries) } : { status },
  };
}

/**
 * Returns whether a load balancer should send clients, to one site or to all. If not, the reason is
 * that of a site that does not serve yet, or that refuses writes.
 */
function getReadiness(sites: GatewaysBySite, name: string | undefined): HttpResponse {
  if (name !== undefined && !Object.hasOwn(sites, name))
    return { status: 404, body: { ready: false } };
  const requested = name === undefined ? Object.values(sites) : [sites[name] as Gateway];
  const isAccepting = requested.every((gateway) => gateway.isAccepting);
  const reason = requested
    .map((gateway) => gateway.status())
    .map(({ waitingFor, writeRefusal }) => waitingFor ?? writeRefusal)
    .find((item) => item !== undefined);
  const ready = isAccepting && reason === undefined;
  return { status: ready ? 200 : 503, body: { ready, reason } };
}

/**
 * Returns the sites, each with its websocket path on this host and port, or with its own address.
 */
function listSites(sites: GatewaysBySite, addresses?: readonly SiteAddress[]): object[] {
  const describe = (name: string, { levels, contract }: Gateway): object => ({
    name,
    path: `/${name}`,
    levels,
    ...(contract !== undefined && { contract }),
  });
  if (addresses === undefined)
    return Object.entries(sites).map(([name, gateway]) => describe(name, gateway));
  // All sites of a deployment serve the same contract.
  const [gateway] = Object.values(sites) as [Gateway];
  return addresses.map(({ name, url, isConnected }) => ({
    ...describe(name, gateway),
    url,
    connected: isConnected,
  }));
}
