/**
 * The cluster at one address: the shop's page, the state of the sites and actions on them, and
 * routes for clients to the sites, `/FROM/TO`, with the delay between the two places.
 */
import { once } from 'node:events';
import {
  createServer,
  type IncomingMessage,
  type RequestListener,
  type ServerResponse,
} from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { relay } from '../../engines/delay-proxy.ts';
import { LOOPBACK } from '../../engines/ports.ts';
import { roundTripMs, SITES, type WanPreset } from '../../engines/wan.ts';
import { isOwnRequest } from '../own-request.ts';
import { withPageHeaders } from '../page-headers.ts';
import type { Cluster } from './cluster.ts';
import { ACTIONS } from './status.ts';

export interface ClusterServerOptions {
  readonly cluster: Cluster;
  readonly wan: WanPreset;
  /** The port on the loopback interface; 0 for any free port. */
  readonly port: number;
  readonly page?: RequestListener;
}

export interface ClusterServer {
  readonly url: string;
  close(): Promise<void>;
}

/**
 * Starts it.
 *
 * @throws the system's error if the server cannot listen on the port
 */
export async function startClusterServer({
  cluster,
  wan,
  port,
  page,
}: ClusterServerOptions): Promise<ClusterServer> {
  const answer = withPageHeaders((request, response) => {
    if (!isOwnRequest(request)) return void response.writeHead(403).end();
    const [, first, ...path] = parsePath(request);
    if (first === 'cluster') return void answerCluster(cluster, request, response, path);
    if (page === undefined) return void response.writeHead(404).end();
    return page(request, response);
  });
  const server = createServer(answer);
  const sockets = new Set<Socket>();
  server.on('upgrade', (request, socket: Socket, head: Buffer) => {
    const [, from, to] = parsePath(request).map((name) => SITES.find((site) => site === name));
    if (from === undefined || to === undefined || !isOwnRequest(request))
      return void socket.destroy();
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
    socket.pause();
    socket.unshift(Buffer.concat([formatRequest(request, `/${to}`), head]));
    relay(socket, { targetPort: cluster.clientPort(to), oneWayMs: roundTripMs(wan, from, to) / 2 });
  });
  server.listen(port, LOOPBACK);
  await once(server, 'listening');
  return {
    url: `http://${LOOPBACK}:${(server.address() as AddressInfo).port}`,
    async close() {
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
}

/** `GET /cluster`: the sites as they are; `POST /cluster/SITE/ACTION`: does something to one. */
async function answerCluster(
  cluster: Cluster,
  { method }: IncomingMessage,
  response: ServerResponse,
  [name, action, ...others]: readonly string[],
): Promise<void> {
  const answer = (status: number, body: unknown): void => {
    response.writeHead(status, { 'content-type': 'application/json', 'cache-control': 'no-store' });
    response.end(JSON.stringify(body));
  };
  if (method === 'GET' && name === undefined) return answer(200, { sites: cluster.status });
  const site = SITES.find((item) => item === name);
  const wanted = ACTIONS.find((item) => item === action);
  if (method !== 'POST' || site === undefined || wanted === undefined || others.length > 0) {
    return answer(404, {
      error: `POST /cluster/SITE/ACTION: sites ${SITES.join(', ')}; actions ${ACTIONS.join(', ')}`,
    });
  }
  // Do not wait: a node takes a while to start, and the page shows its state.
  void cluster.act(site, wanted);
  answer(202, { sites: cluster.status });
}

function parsePath({ url = '/' }: IncomingMessage): string[] {
  return (url.split('?', 1)[0] as string).split('/');
}

/** Formats the head of a request as it was received, but with another path. */
function formatRequest({ method, rawHeaders }: IncomingMessage, path: string): Buffer {
  const lines = [`${method} ${path} HTTP/1.1`];
  for (let at = 0; at < rawHeaders.length; at += 2)
    lines.push(`${rawHeaders[at]}: ${rawHeaders[at + 1]}`);
  return Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1');
}
