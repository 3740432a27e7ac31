/** Serves the start page on the loopback interface, and sends people on to the demo that they open. */
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { withPageHeaders } from '../page-headers.ts';
import type { Demo } from './demos.ts';
import { failurePage, nowherePage, startPage } from './page.ts';
import { DemoRegistry } from './demo-registry.ts';

const HOST = '127.0.0.1';

export interface LauncherOptions {
  /** Where to listen, on the loopback interface; 0 for any free port. */
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
 * @throws the system's error when the port cannot be had
 */
export async function startLauncher({ port, demos }: LauncherOptions): Promise<RunningLauncher> {
  const shelf = new DemoRegistry(demos);
  const style = await readFile(new URL('style.css', import.meta.url), 'utf8');
  const shown = { shelf, style, script: await scriptOf('views.ts') };
  const server = createServer(withPageHeaders((request, response) => void answer(request, response, shown)));
  server.listen(port, HOST);
  await once(server, 'listening');
  return {
    url: `http://${HOST}:${(server.address() as AddressInfo).port}`,
    close: async () => {
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await Promise.all([closed, shelf.close()]);
    },
  };
}

/** What runs in the page, bundled with the built package. */
async function scriptOf(name: string): Promise<string> {
  const entry = fileURLToPath(new URL(name, import.meta.url));
  const { outputFiles } = await build({
    entryPoints: [entry],
    bundle: true,
    format: 'esm',
    target: 'es2022',
    write: false,
  });
  return outputFiles[0]?.text ?? '';
}

interface Shown {
  readonly shelf: DemoRegistry;
  readonly style: string;
  readonly script: string;
}

async function answer(request: IncomingMessage, response: ServerResponse, shown: Shown): Promise<void> {
  const { shelf, style, script } = shown;
  const [path = '/'] = (request.url ?? '/').split('?', 1);
  const html = (status: number, body: string): void => {
    response.writeHead(status, { 'content-type': 'text/html; charset=utf-8', 'cache-control': 'no-store' }).end(body);
  };
  if (path === '/')
    return html(
      200,
      startPage(shelf.demos, (demo) => shelf.isOpen(demo)),
    );
  if (path === '/style.css') return void response.writeHead(200, { 'content-type': 'text/css' }).end(style);
  if (path === '/views.js') return void response.writeHead(200, { 'content-type': 'text/javascript' }).end(script);
  const demo = shelf.demos.find(({ name }) => path === `/open/${name}`);
  if (demo === undefined) return html(404, nowherePage());
  try {
    response.writeHead(302, { location: await shelf.open(demo), 'cache-control': 'no-store' }).end();
  } catch (failure) {
    html(500, failurePage(demo, failure));
  }
}
