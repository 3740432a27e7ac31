/** Serves what `vite build` has made. */
import { readFile } from 'node:fs/promises';
import type { RequestListener } from 'node:http';
import { extname, join, normalize } from 'node:path';
import { fileURLToPath } from 'node:url';

const folder = fileURLToPath(new URL('../page', import.meta.url));

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
};

export const servePage: RequestListener = (request, response) => {
  const { pathname } = new URL(request.url ?? '/', 'http://shop');
  const file = normalize(pathname === '/' ? '/index.html' : pathname);
  readFile(join(folder, file)).then(
    (content) => {
      response.writeHead(200, { 'content-type': TYPES[extname(file)] ?? 'application/octet-stream' });
      response.end(content);
    },
    () => {
      response.writeHead(404, { 'content-type': 'text/plain' });
      response.end('There is no such page.');
    },
  );
};
