/** Serves what `vite build` has made. */
import { readFile } from 'node:fs/promises';
import type { RequestListener } from 'node:http';
import { extname, join, normalize } from 'node:path';
import { fileURLToPath } from 'node:url';

const folder = fileURLToPath(new URL('../page', import.meta.url));

const BASE = 'http://shop';

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
};

export const servePage: RequestListener = (request, response) => {
  const { url = '/' } = request;
  // Some targets of requests cannot be parsed, for example `//`.
  const { pathname } = new URL(URL.canParse(url, BASE) ? url : '/no-such-page', BASE);
  const file = normalize(pathname === '/' ? '/index.html' : pathname);
  readFile(join(folder, file)).then(
    (content) => {
      response.writeHead(200, {
        'content-type': TYPES[extname(file)] ?? 'application/octet-stream',
      });
      response.end(content);
    },
    () => {
      response.writeHead(404, { 'content-type': 'text/plain' });
      response.end('There is no such page.');
    },
  );
};
