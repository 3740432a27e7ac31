/** Serves the built site from disk. */
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import sirv from 'sirv';

/** Where the site is below its server, if `DOCS_BASE` is not set. */
export const BASE = '/docs/';

const LOOPBACK = '127.0.0.1';

/** Answers with a file of the folder. Paths outside of the base lead to it. */
export function createSiteListener(folder: string): RequestListener {
  // It looks at the disk for each request, since the site may be built again.
  const answer = sirv(folder, { dev: true });
  return (request, response) => {
    const { url = '/' } = request;
    if (!url.startsWith(BASE)) {
      response.writeHead(302, { location: BASE }).end();
      return;
    }
    request.url = url.slice(BASE.length - 1);
    answer(request, response);
  };
}

/** Starts a server of the site on the loopback address. Returns it with its address. */
export async function serveSite(
  folder: string,
  port: number,
): Promise<{ server: Server; url: string }> {
  const server = createServer(createSiteListener(folder));
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, LOOPBACK, resolve);
  });
  const { port: opened } = server.address() as AddressInfo;
  return { server, url: `http://${LOOPBACK}:${opened}${BASE}` };
}
