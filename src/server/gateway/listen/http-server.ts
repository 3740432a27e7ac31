/**
 * The HTTP server under the gateways, and what every HTTP answer of theirs has
 * in common.
 */
import {
  createServer,
  type IncomingMessage,
  type RequestListener,
  type Server,
  type ServerResponse,
} from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { isThenable } from '../../../correctable/validate.ts';
import { ConnectionsPerAddress } from '../context/ip-addresses.ts';
import type { Logger } from '../context/logger.ts';
import fs from 'node:fs';
import type { Gateway } from '../gateway.ts';

/**
 * Requests for `/health`, pages and the like, beside the clients of the sites.
 */
const MAX_OTHER_REQUESTS = 256;
/**
 * Of those, from one address: what a browser opens at a time, and as much
 * again.
 */
const MAX_OTHER_REQUESTS_PER_ADDRESS = 16;
/** Of the descriptors of the process; the others are for files. */
const MAX_DESCRIPTOR_SHARE = 0.75;
/**
 * So many at least are no connections: Node takes some 30, in the two threads
 * of the command, before any file.
 */
const MIN_OTHER_DESCRIPTORS = 48;

/**
 * A client that takes longer to say what it wants holds a socket for nothing.
 */
const HEADERS_TIMEOUT_MS = 10_000;
const REQUEST_TIMEOUT_MS = 60_000;
const CHECK_INTERVAL_MS = 2_000;

/**
 * An answer must not be kept, nor be taken for something that it does not say
 * it is.
 */
export const RESPONSE_HEADERS: Readonly<Record<string, string>> = {
  'cache-control': 'no-store',
  'x-content-type-options': 'nosniff',
};

const STATUS = {
  400: 'Bad Request',
  403: 'Forbidden',
  404: 'Not Found',
  500: 'Internal Server Error',
  503: 'Service Unavailable',
} as const;

/** A status with which an upgrade is refused. */
export type RejectionStatus = keyof typeof STATUS;

/**
 * A server whose connections cannot wait for ever, and of which there are no
 * more than the sites may have.
 */
export function createHttpServer(
  sites: Readonly<Record<string, Gateway>>,
): Server {
  const server = createServer({
    headersTimeout: HEADERS_TIMEOUT_MS,
    requestTimeout: REQUEST_TIMEOUT_MS,
    connectionsCheckingInterval: CHECK_INTERVAL_MS,
  });
  server.maxConnections = computeMaxConnections(sites);
  const maxPerAddress = computeMaxConnectionsPerAddress(sites);
  if (maxPerAddress !== Infinity)
    limitConnectionsPerAddress(server, maxPerAddress);
  return server;
}

/**
 * Counts them from when they are there: what they want is known later, or
 * never.
 */
function limitConnectionsPerAddress(
  server: Server,
  maxConnectionsPerAddress: number,
): void {
  const addresses = new ConnectionsPerAddress();
  server.prependListener('connection', (socket: Socket) => {
    const address = socket.remoteAddress;
    if (addresses.count(address) >= maxConnectionsPerAddress)
      return void socket.destroy();
    addresses.enter(socket, address);
    socket.once('close', () => addresses.leave(socket));
    return undefined;
  });
}

/**
 * The path of a request, without its query; also where the whole address was
 * given, as to a proxy.
 */
export function parsePath({ url = '/' }: IncomingMessage): string {
  const path = url.startsWith('/')
    ? url
    : url.replace(/^[a-z][a-z\d+.-]*:\/\/[^/?#]*/i, '');
  return path.split('?', 1)[0] as string;
}

/**
 * Answers an upgrade with a refusal, and lets go of the socket once that has
 * been written.
 */
export function rejectUpgrade(
  socket: Duplex,
  status: RejectionStatus,
  reason: string,
): void {
  const headers = {
    connection: 'close',
    'content-type': 'text/plain',
    'content-length': Buffer.byteLength(reason),
    ...RESPONSE_HEADERS,
  };
  const head = Object.entries(headers).map(
    ([name, value]) => `${name}: ${value}\r\n`,
  );
  socket.once('finish', () => socket.destroy());
  socket.end(
    `HTTP/1.1 ${status} ${STATUS[status]}\r\n${head.join('')}\r\n${reason}`,
  );
}

/**
 * Whether an answer may still be given: another handler of the same server may
 * have given one, or the client be gone.
 */
export function canRespond(response: ServerResponse): boolean {
  return !response.headersSent && !response.destroyed;
}

export function respondEmpty(
  response: ServerResponse,
  status: number,
  headers: Record<string, string> = {},
): void {
  if (canRespond(response))
    response.writeHead(status, { ...RESPONSE_HEADERS, ...headers }).end();
}

/** The same handler, whose failures cost one answer, never the process. */
export function guardPage(
  page: RequestListener,
  logger: Logger,
): RequestListener {
  return (request, response) => {
    const failed = (err: unknown): void => {
      logger.error({ err }, 'the page failed');
      respondFailed(response);
    };
    response.on('error', failed);
    try {
      const value: unknown = page(request, response);
      if (isThenable(value)) Promise.resolve(value).catch(failed);
    } catch (error) {
      failed(error);
    }
  };
}

/**
 * Puts a failure in the place of what the page has begun to say; an answer that
 * is whole stays as it is.
 */
function respondFailed(response: ServerResponse): void {
  if (response.writableEnded) return;
  if (response.headersSent) return void response.destroy();
  // What it said of the length or the form of its answer does not hold for
  // ours.
  for (const name of response.getHeaderNames()) response.removeHeader(name);
  response.statusMessage = '';
  respondEmpty(response, 500, { connection: 'close', 'content-length': '0' });
}

/**
 * How many connections a port takes. Each is a descriptor, and the process
 * needs some for its files.
 */
export function computeMaxConnections(
  sites: Readonly<Record<string, Gateway>>,
  maxDescriptors: number = readMaxDescriptors(),
): number {
  const maxClients = Object.values(sites).reduce(
    (sum, { limits }) => sum + limits.maxConnections,
    0,
  );
  const descriptors = Math.min(
    Math.floor(maxDescriptors * MAX_DESCRIPTOR_SHARE),
    maxDescriptors - MIN_OTHER_DESCRIPTORS,
  );
  return Math.max(1, Math.min(maxClients + MAX_OTHER_REQUESTS, descriptors));
}

/**
 * From one address: its clients, and a part for requests, so that silent
 * clients cannot take the whole port.
 */
export function computeMaxConnectionsPerAddress(
  sites: Readonly<Record<string, Gateway>>,
): number {
  const maxClients = Object.values(sites).reduce(
    (sum, { limits }) => sum + limits.maxConnectionsPerAddress,
    0,
  );
  return maxClients + MAX_OTHER_REQUESTS_PER_ADDRESS;
}

/** Where the system does not say: no bound. */
function readMaxDescriptors(): number {
  try {
    const limits = fs.readFileSync('/proc/self/limits', 'utf8');
    return Number(/^Max open files +(\d+)/m.exec(limits)?.[1] ?? Infinity);
  } catch {
    return Infinity;
  }
}
