/**
 * Serves the start page on the loopback interface, and every demo below its own path. So after a
 * restart of the launcher, an open page reconnects to its demo at the same path, which starts the
 * demo.
 */
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { buildLanding } from '../landing/build.ts';
import type { Break } from '../landing/page/controls.ts';
import { fileListener } from '../page-cache/page-files.ts';
import { setPageHeaders } from '../page-headers.ts';
import { answerCheckoutFile, answerSitePage } from './checkout-files.ts';
import { formatCode } from './demo-code.ts';
import type { Demo } from './demos.ts';
import { DemoRegistry } from './demo-registry.ts';
import {
  addressOf,
  demoCards,
  demoLinks,
  failurePage,
  nowherePage,
  startingPage,
  withDemoLinks,
} from './page.ts';
import { forwardRequest, forwardUpgrade } from './proxy.ts';

const HOST = '127.0.0.1';
/** The pause after which a browser asks again for a demo that starts, in seconds. */
const REFRESH_S = 1;

export interface LauncherOptions {
  /** The port on the loopback interface; 0 for any free port. */
  readonly port: number;
  readonly demos: readonly Demo[];
}

export interface RunningLauncher {
  readonly url: string;
  /** Closes the start page and every demo that runs. */
  close(): Promise<void>;
}

/**
 * Starts the launcher. A demo is started when it is first opened.
 *
 * @throws the system's error if the server cannot listen on the port
 */
export async function startLauncher({ port, demos }: LauncherOptions): Promise<RunningLauncher> {
  const registry = new DemoRegistry(demos);
  const answer = await answerer(registry);
  const sockets = new Set<Socket>();
  const server = createServer((request, response) => void answer(request, response));
  server.on('upgrade', (request, socket: Socket, head: Buffer) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
    void upgrade(registry, request, socket, head);
  });
  server.listen(port, HOST);
  await once(server, 'listening');
  return {
    url: `http://${HOST}:${(server.address() as AddressInfo).port}`,
    close: async () => {
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      for (const socket of sockets) socket.destroy();
      await Promise.all([closed, registry.close()]);
    },
  };
}

type Answer = (request: IncomingMessage, response: ServerResponse) => Promise<void>;

async function answerer(registry: DemoRegistry): Promise<Answer> {
  const { demos } = registry;
  const { assets, html } = await buildLanding();
  const linksStyle = await readFile(new URL('demo-links.css', import.meta.url));
  const files = new Map([...assets, ['demo-links.css', linksStyle]]);
  const answerFile = fileListener(files);
  const fullDemo = (what: Break): string => {
    const demo = demos.find(({ breaks }) => breaks?.includes(what));
    return demo === undefined ? '' : `<a href="${addressOf(demo)}">Full demo: ${demo.title}</a>`;
  };
  const startPage = (): string =>
    withDemoLinks(
      html({ more: demoCards(demos, (demo) => registry.isOpen(demo)), fullDemo }),
      demoLinks(demos),
    );
  return async (request, response) => {
    const { demo, path, isBare } = findDemo(demos, request);
    if (demo !== undefined && isBare)
      return void response.writeHead(302, { location: addressOf(demo) }).end();
    const answerHtml = (status: number, body: string): void => {
      response
        .writeHead(status, {
          'content-type': 'text/html; charset=utf-8',
          'cache-control': 'no-store',
        })
        .end(body);
    };
    if (demo !== undefined) {
      if (isVisit(request, path)) {
        const state = await registry.openSoon(demo);
        if (state.kind !== 'running') setPageHeaders(response);
        if (state.kind === 'failed') return answerHtml(500, failurePage(demo, state.failure));
        if (state.kind === 'starting') {
          response.setHeader('refresh', String(REFRESH_S));
          return answerHtml(200, startingPage(demo, state.forMs));
        }
      }
      try {
        const editPage = async (page: string): Promise<string> =>
          withDemoLinks(page, demoLinks(demos, demo), demo.code && (await formatCode(demo.code)));
        return forwardRequest(request, response, {
          port: await portOf(registry, demo),
          path,
          editPage,
        });
      } catch (failure) {
        setPageHeaders(response);
        return answerHtml(500, failurePage(demo, failure));
      }
    }
    if (answerSitePage(path, request, response)) return undefined;
    setPageHeaders(response);
    if (path === '/') return answerHtml(200, startPage());
    if (files.has(path.slice(1))) return answerFile(request, response);
    if (!(await answerCheckoutFile(path, response))) answerHtml(404, nowherePage());
  };
}

/** Whether a person opens the page of a demo. Programs wait for the demo itself. */
function isVisit({ method, headers }: IncomingMessage, path: string): boolean {
  return (
    method === 'GET' && /^\/(?:\?|$)/.test(path) && headers.accept?.includes('text/html') === true
  );
}

async function upgrade(
  registry: DemoRegistry,
  request: IncomingMessage,
  socket: Socket,
  head: Buffer,
): Promise<void> {
  const { demo, path } = findDemo(registry.demos, request);
  if (demo === undefined) return void socket.destroy();
  try {
    forwardUpgrade(request, socket, head, { port: await portOf(registry, demo), path });
  } catch {
    // The page tries again, and its next load explains why the demo does not start.
    socket.destroy();
  }
}

interface Found {
  readonly demo: Demo | undefined;
  /** The path at the demo, without its name, with the query if there is a demo. */
  readonly path: string;
  /** Whether the trailing slash is missing, which relative links need. */
  readonly isBare: boolean;
}

function findDemo(demos: readonly Demo[], { url = '/' }: IncomingMessage): Found {
  const [path = '/'] = url.split('?', 1);
  const demo = demos.find(
    (item) => path === addressOf(item).slice(0, -1) || path.startsWith(addressOf(item)),
  );
  if (demo === undefined) return { demo, path, isBare: false };
  const start = addressOf(demo).length - 1;
  return { demo, path: url.slice(start), isBare: path.length === start };
}

async function portOf(registry: DemoRegistry, demo: Demo): Promise<number> {
  return Number(new URL(await registry.open(demo)).port);
}
