/** The news in one process: the stores of three sites behind one port, with the page for them. */
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { createClient } from 'correctables';
import { createEmbedded, createGateway, listenGateways, type Embedded } from 'correctables/server';
import { isOwnRequest } from '../own-request.ts';
import { fileListener } from '../page-cache/page-files.ts';
import { withPageHeaders } from '../page-headers.ts';
import { openEmbeddedStores, type CommentStores } from './comment-stores.ts';
import { WRITERS } from './comments.ts';
import { news } from './contract.ts';
import { FIRST_HEADLINES } from './headlines.ts';
import { Line } from './line.ts';
import { buildPage } from './page/build.ts';
import { service } from './service.ts';
import {
  getRoundTripsMs,
  NEWSROOM,
  SITES,
  toPath,
  type Delays,
  type Site,
  type StoreName,
} from './sites.ts';

export interface NewsOptions {
  /** Default: `'slow'` */
  readonly delays?: Delays;
  /** Whether comments are on a Redis Cluster at each site. Default: in this process */
  readonly hasRedis?: boolean;
}

export interface NewsState {
  readonly hasRedis: boolean;
  readonly delays: Delays;
  /** Whether the line between Dublin and Sydney is cut. */
  readonly isCut: boolean;
}

export interface RunningNews {
  readonly url: string;
  readonly line: Line;
  /** The websocket address of a store at a site. */
  storeUrl(store: StoreName, site: Site): string;
  close(): Promise<void>;
}

/** Starts the stores without a page, on any free port. */
export function startStores(options: NewsOptions = {}): Promise<RunningNews> {
  return start({ ...options, port: 0 });
}

/**
 * Builds the page, then starts the stores and serves both at one address; port 0 is any free port.
 */
export async function startNews(
  options: NewsOptions & { readonly port: number },
): Promise<RunningNews> {
  return start({ ...options, page: fileListener(await buildPage()) });
}

interface StartOptions extends NewsOptions {
  readonly port: number;
  readonly page?: RequestListener;
}

async function start({
  delays = 'slow',
  hasRedis = false,
  port,
  page,
}: StartOptions): Promise<RunningNews> {
  const comments = await openStores(delays, hasRedis);
  const headlines = createEmbedded(service, {
    sites: SITES,
    redLeader: NEWSROOM,
    latency: getRoundTripsMs(delays),
  });
  const line = new Line(comments);
  const closeStores = async (): Promise<void> => {
    line.close();
    await Promise.all([headlines.close(), comments.close()]);
  };
  try {
    await publishFirst(headlines);
    const listener = await listenGateways({
      sites: createGateways(headlines, comments),
      port,
      ...(page !== undefined && {
        page: withPageHeaders(createListener({ page, line, delays, hasRedis })),
      }),
    });
    return {
      url: listener.url,
      line,
      storeUrl: (store, site) => listener.siteUrl(toPath(store, site)),
      close: async () => {
        await listener.close();
        await closeStores();
      },
    };
  } catch (error) {
    await closeStores();
    throw error;
  }
}

async function openStores(delays: Delays, hasRedis: boolean): Promise<CommentStores> {
  if (!hasRedis) return openEmbeddedStores(delays);
  const { openRedisStores } = await import('./redis-stores.ts');
  return await openRedisStores(delays);
}

type Gateways = Record<string, ReturnType<typeof createGateway>>;

/** The gateway takes any binding: those of three different stores. */
function createGateways(headlines: Embedded<Site>, comments: CommentStores): Gateways {
  const gateways = SITES.flatMap((site) => [
    [
      toPath('headlines', site),
      createGateway({ site, binding: headlines.site(site), contract: news }),
    ],
    [toPath('comments', site), createGateway({ site, binding: comments.causal(site) })],
    [toPath('copies', site), createGateway({ site, binding: comments.copies(site) })],
  ]);
  return Object.fromEntries(gateways) as Gateways;
}

async function publishFirst(headlines: Embedded<Site>): Promise<void> {
  const newsroom = createClient(headlines.site(NEWSROOM));
  for (const story of FIRST_HEADLINES) await newsroom.invoke(news.publish(story));
  await newsroom.close();
}

interface ListenerParts {
  readonly page: RequestListener;
  readonly line: Line;
  readonly delays: Delays;
  readonly hasRedis: boolean;
}

/**
 * Answers requests of pages about the line, and gives each page two writer numbers: the returned
 * one, and the next.
 */
function createListener({ page, line, delays, hasRedis }: ListenerParts): RequestListener {
  let pages = 0;
  const actions: Readonly<Record<string, () => Promise<object>>> = {
    '/cut': async () => line.cut().then(() => ({})),
    '/repair': async () => line.repair().then(() => ({})),
    '/writer': async () => ({ writer: (2 * pages++) % WRITERS }),
  };
  return (request, response) => {
    const [path = '/'] = (request.url ?? '/').split('?', 1);
    if (path === '/state')
      return answer(response, { delays, hasRedis, isCut: line.isCut } satisfies NewsState);
    const action =
      Object.hasOwn(actions, path) && request.method === 'POST' ? actions[path] : undefined;
    if (action === undefined) return page(request, response);
    act(action, request, response);
  };
}

function act(
  action: () => Promise<object>,
  request: IncomingMessage,
  response: ServerResponse,
): void {
  if (!isOwnRequest(request)) return void response.writeHead(403).end();
  action().then(
    (result) => answer(response, result),
    () => response.writeHead(500).end(),
  );
}

function answer(response: ServerResponse, body: object): void {
  response.writeHead(200, { 'content-type': 'application/json', 'cache-control': 'no-store' });
  response.end(JSON.stringify(body));
}
