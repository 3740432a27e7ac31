/** `fetchViews` in a real browser, from a server of Node. */
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { readSessionTokens, sendViews } from '../../src/http/index.ts';
import { correctable } from '../../src/index.ts';
import { openBrowser } from './support/browser.ts';
import { bundlePage } from './support/page-bundle.ts';

const { browser, reason } = await openBrowser();
const subject = reason === undefined ? 'fetchViews' : `fetchViews (skipped: ${reason})`;

const createViews = () => correctable(['weak', 'strong'] as const).withSink<string>();

describe.skipIf(browser === undefined)(subject, () => {
  let server: Server;
  let page: Page;
  let served: ReturnType<typeof createViews>;
  let tokens: readonly string[];

  beforeAll(async () => {
    const script = await bundlePage('http-views.page.ts');
    server = createServer((request, response) => {
      if (request.url === '/stock') {
        tokens = readSessionTokens(request);
        void sendViews(response, served.correctable, { request });
      } else {
        response.setHeader('content-type', 'text/html');
        response.end(`<!doctype html><title>shop</title><script type="module">${script}</script>`);
      }
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  });

  beforeEach(async () => {
    served = createViews();
    page = await (browser as Browser).newPage();
    await page.goto(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`);
    return () => page.close();
  });

  afterAll(async () => {
    await (browser as Browser).close();
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });

  const seen = (): Promise<string[]> =>
    page.evaluate(() => (globalThis as unknown as { seen: string[] }).seen);

  test('the early view arrives while the final one is on its way, and the session with the request', async () => {
    served.sink.view('old', 'weak');
    await expect.poll(seen).toEqual(['old weak false']);
    served.sink.view('new', 'strong');
    await expect.poll(seen).toEqual(['old weak false', 'new strong true']);
    expect(tokens).toEqual(['token']);
  });

  test('the page cancels → the operation on the server is canceled', async () => {
    served.sink.view('old', 'weak');
    await expect.poll(seen).toEqual(['old weak false']);
    await page.evaluate(() => (globalThis as unknown as { leave: () => void }).leave());
    await expect(served.correctable).rejects.toMatchObject({ code: 'ABORTED' });
    expect(await seen()).toEqual(['old weak false', 'ABORTED']);
  });

  test('the page is closed → so is it', async () => {
    served.sink.view('old', 'weak');
    await expect.poll(seen).toEqual(['old weak false']);
    await page.close();
    await expect(served.correctable).rejects.toMatchObject({ code: 'ABORTED' });
  });
});
