/** The kill demo with its page: a server under load, and a button that kills it. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { isOwnRequest } from '../own-request.ts';
import { fileListener } from '../page-cache/page-files.ts';
import { bundleSmallPage } from '../page-cache/small-page.ts';
import { withPageHeaders } from '../page-headers.ts';
import { LiveLoad } from './live.ts';

const HOST = '127.0.0.1';

export interface RunningKillPage {
  readonly url: string;
  close(): Promise<void>;
}

/** Starts the server with its load, and serves the page; 0 is any free port. */
export async function startKillPage({ port }: { readonly port: number }): Promise<RunningKillPage> {
  const answer = fileListener(await bundleSmallPage(new URL('page/', import.meta.url)));
  const live = await LiveLoad.start();
  const listener = withPageHeaders((request, response) => {
    const [path] = (request.url ?? '/').split('?', 1);
    if (path === '/kill' && request.method === 'POST') {
      if (!isOwnRequest(request)) return void response.writeHead(403).end();
      live.kill();
      return void response.writeHead(202).end();
    }
    if (path !== '/state') return answer(request, response);
    response.writeHead(200, { 'content-type': 'application/json', 'cache-control': 'no-store' });
    response.end(JSON.stringify(live.state));
  });
  const server = createServer(listener).listen(port, HOST);
  await once(server, 'listening');
  return {
    url: `http://${HOST}:${(server.address() as AddressInfo).port}`,
    async close() {
      server.close();
      server.closeAllConnections();
      await live.close();
    },
  };
}
