/** The files of a built page, and the listener that serves them. */
import { extname } from 'node:path';
import type { RequestListener } from 'node:http';

/**
 * By path, without the slash that it begins with. They are in memory: so a later build does not
 * change them.
 */
export type PageFiles = ReadonlyMap<string, Buffer>;

const TYPES: Readonly<Record<string, string>> = {
  '.css': 'text/css; charset=utf-8',
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
};

/** Answers with one of the files, or that there is none. */
export function fileListener(files: PageFiles): RequestListener {
  return (request, response) => {
    const [path = '/'] = (request.url ?? '/').split('?', 1);
    const name = path === '/' ? 'index.html' : path.slice(1);
    const body = files.get(name);
    if (body === undefined) return void response.writeHead(404).end();
    const type = TYPES[extname(name)] ?? 'application/octet-stream';
    response.writeHead(200, { 'content-type': type, 'cache-control': 'no-store' }).end(body);
  };
}
