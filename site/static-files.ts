/** Serves the built site from disk. */
import { createReadStream, statSync } from 'node:fs';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { extname, join, normalize } from 'node:path';

/** Where the site is below its server, if `DOCS_BASE` is not set. */
export const BASE = '/docs/';

const LOOPBACK = '127.0.0.1';

const TYPES: Readonly<Record<string, string>> = {
  '.css': 'text/css; charset=utf-8',
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.json': 'application/json; charset=utf-8',
  '.md': 'text/markdown; charset=utf-8',
  '.png': 'image/png',
  '.svg': 'image/svg+xml',
  '.txt': 'text/plain; charset=utf-8',
  '.woff2': 'font/woff2',
};

/** Answers with a file of the folder. Paths outside of the base lead to it. */
export function createSiteListener(folder: string): RequestListener {
  return (request, response) => {
    const [path = '/'] = (request.url ?? '/').split('?', 1);
    if (!path.startsWith(BASE)) return void response.writeHead(302, { location: BASE }).end();
    const file = findFile(folder, path.slice(BASE.length));
    if (file === undefined) return void response.writeHead(404, { 'content-type': 'text/plain' }).end('no such page');
    const type = TYPES[extname(file)] ?? 'application/octet-stream';
    response.writeHead(200, { 'content-type': type, 'cache-control': 'no-cache' });
    createReadStream(file).pipe(response);
  };
}

/** Returns the path of a file below the folder, for an address with or without `.html`. */
export function findFile(folder: string, address: string): string | undefined {
  let path: string;
  try {
    path = normalize(`/${decodeURIComponent(address)}`);
  } catch {
    return undefined;
  }
  if (path.includes('\0')) return undefined;
  const candidates = path.endsWith('/') ? [`${path}index.html`] : [path, `${path}.html`];
  return candidates.map((name) => join(folder, name)).find(isFile);
}

function isFile(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isFile() === true;
}

/** Starts a server of the site on the loopback address. Returns it with its address. */
export async function serveSite(folder: string, port: number): Promise<{ server: Server; url: string }> {
  const server = createServer(createSiteListener(folder));
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, LOOPBACK, resolve);
  });
  const { port: opened } = server.address() as AddressInfo;
  return { server, url: `http://${LOOPBACK}:${opened}${BASE}` };
}
