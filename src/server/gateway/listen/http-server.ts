/** Creates the HTTP server for gateways. Also has what all its HTTP replies share. */
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

/** Connections for `/health`, pages and other requests, beside those of clients. */
const MAX_OTHER_REQUESTS = 256;
/** The same maximum for one address: twice as many connections as a browser opens at a time. */
const MAX_OTHER_REQUESTS_PER_ADDRESS = 16;
/** Part of the process's file descriptors for connections. The others are for files. */
const MAX_DESCRIPTOR_SHARE = 0.75;
/**
 * At least this many descriptors are not for connections: Node uses about 30, in the two threads of
 * the command, before it opens any file.
 */
const MIN_OTHER_DESCRIPTORS = 48;

/** The time limit for sending the headers of a request. A slower client would occupy a socket. */
const HEADERS_TIMEOUT_MS = 10_000;
const REQUEST_TIMEOUT_MS = 60_000;
const CHECK_INTERVAL_MS = 2_000;

/**
 * The headers of each reply. A reply must not be cached, and browsers must not guess another type
 * than it has.
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

/** The statuses with which an upgrade is refused. */
export type RejectionStatus = keyof typeof STATUS;

/**
 * Creates a server that closes idle connections, and accepts no more connections than the limits of
 * the sites allow.
 */
export function createHttpServer(sites: Readonly<Record<string, Gateway>>): Server {
  const server = createServer({
    headersTimeout: HEADERS_TIMEOUT_MS,
    requestTimeout: REQUEST_TIMEOUT_MS,
    connectionsCheckingInterval: CHECK_INTERVAL_MS,
  });
  server.maxConnections = computeMaxConnections(sites);
  const maxPerAddress = computeMaxConnectionsPerAddress(sites);
  if (maxPerAddress !== Infinity) limitConnectionsPerAddress(server, maxPerAddress);
  return server;
}

/**
 * Limits the connections of each address. Counts a connection from its opening, because its request
 * may never arrive.
 */
function limitConnectionsPerAddress(server: Server, maxConnectionsPerAddress: number): void {
  const addresses = new ConnectionsPerAddress();
  server.prependListener('connection', (socket: Socket) => {
    const address = socket.remoteAddress;
    if (addresses.count(address) >= maxConnectionsPerAddress) return void socket.destroy();
    addresses.enter(socket, address);
    socket.once('close', () => addresses.leave(socket));
    return undefined;
  });
}

/** Returns the path of a request without its query. A proxy may have sent the whole address. */
export function parsePath({ url = '/' }: IncomingMessage): string {
  const path = url.startsWith('/') ? url : url.replace(/^[a-z][a-z\d+.-]*:\/\/[^/?#]*/i, '');
  return path.split('?', 1)[0] as string;
}

/** Refuses an upgrade, and destroys the socket once the answer has been written. */
export function rejectUpgrade(socket: Duplex, status: RejectionStatus, reason: string): void {
  const headers = {
    connection: 'close',
    'content-type': 'text/plain',
    'content-length': Buffer.byteLength(reason),
    ...RESPONSE_HEADERS,
  };
  const head = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.once('finish', () => socket.destroy());
  socket.end(`HTTP/1.1 ${status} ${STATUS[status]}\r\n${head.join('')}\r\n${reason}`);
}

/**
 * Returns whether a reply can still be sent: another handler may have replied, or the client may
 * have disconnected.
 */
export function canRespond(response: ServerResponse): boolean {
  return !response.headersSent && !response.destroyed;
}

export function respondEmpty(
  response: ServerResponse,
  status: number,
  headers: Record<string, string> = {},
): void {
  if (canRespond(response)) response.writeHead(status, { ...RESPONSE_HEADERS, ...headers }).end();
}

/**
 * Returns a handler that catches the failures of `page`. Such a failure breaks one reply, and never
 * the process.
 */
export function guardPage(page: RequestListener, logger: Logger): RequestListener {
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
 * Answers with an error instead of what the page has begun to send. A complete reply is not
 * changed.
 */
function respondFailed(response: ServerResponse): void {
  if (response.writableEnded) return;
  if (response.headersSent) return void response.destroy();
  // The length and type that the page has set do not fit the error.
  for (const name of response.getHeaderNames()) response.removeHeader(name);
  response.statusMessage = '';
  respondEmpty(response, 500, { connection: 'close', 'content-length': '0' });
}

/**
 * Returns how many connections a port accepts. Each is a file descriptor, and the process needs
 * some for its files.
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
 * Returns the maximum number of connections from one address: for its clients and some requests. So
 * silent connections from one address cannot use up the whole port.
 */
export function computeMaxConnectionsPerAddress(sites: Readonly<Record<string, Gateway>>): number {
  const maxClients = Object.values(sites).reduce(
    (sum, { limits }) => sum + limits.maxConnectionsPerAddress,
    0,
  );
  return maxClients + MAX_OTHER_REQUESTS_PER_ADDRESS;
}

/** If the system does not report a maximum, there is no limit. */
function readMaxDescriptors(): number {
  try {
    const limits = fs.readFileSync('/proc/self/limits', 'utf8');
    return Number(/^Max open files +(\d+)/m.exec(limits)?.[1] ?? Infinity);
  } catch {
    return Infinity;
  }
}
