/** The ticket shop's backend in one process: three sites with the papers' delays, and the page for it. */
import { execFile } from 'node:child_process';
import { createServer, type RequestListener } from 'node:http';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { serve, type RunningServer } from 'correctables/server';
import sirv from 'sirv';
import type { Options } from './options.ts';
import { service } from './service.ts';

export interface ShopOptions {
  /** Where to listen, on the loopback interface; 0 (default) for any free port. */
  readonly port?: number;
  readonly wan?: Options['wan'];
}

/** The sites, their red leader and the page that sells from them. */
export type RunningShop = Pick<RunningServer, 'url' | 'siteUrl' | 'close'>;

/** Starts the sites without a page. */
export function startBackend(options: ShopOptions = {}): Promise<RunningShop> {
  return start(options);
}

/** Builds the page, then starts the sites and serves both at one address. */
export async function startShop(options: ShopOptions = {}): Promise<RunningShop> {
  return start(options, sirv(await buildPage(), { etag: true }));
}

function start({ port = 0, wan = 'paper' }: ShopOptions, page?: RequestListener): Promise<RunningShop> {
  const server = page === undefined ? {} : { server: createServer(page) };
  return serve({ service, sites: ['irl', 'frk', 'vrg'], redLeader: 'irl', wan, port, ...server });
}

/** Bundles the page; a second or two. Its output goes to stderr only when it fails. */
async function buildPage(): Promise<string> {
  const root = fileURLToPath(new URL('../..', import.meta.url));
  const vite = fileURLToPath(new URL('../../node_modules/vite/bin/vite.js', import.meta.url));
  const config = fileURLToPath(new URL('page/vite.config.ts', import.meta.url));
  await promisify(execFile)(process.execPath, [vite, 'build', '--config', config, '--logLevel', 'error'], { cwd: root });
  return fileURLToPath(new URL('../../build/demo/tickets', import.meta.url));
}
