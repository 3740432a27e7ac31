/**
 * A store behind a gateway keeps the promises of a binding in a real browser too, over both codecs.
 */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, test } from 'vitest';
import { memory, type MemoryBinding, type MemoryLevels } from '../../src/bindings/memory/index.ts';
import { createGateway } from '../../src/server/gateway/gateway.ts';
import { listenGateways, type GatewayListener } from '../../src/server/gateway/listen/listen.ts';
import { openBrowser } from './support/browser.ts';
import { bundlePage } from './support/page-bundle.ts';

/** Its final views take longer than any test. */
const FOREVER = { weak: 0, strong: 600_000 };

/** A store that reports the key of each abandoned read. */
function reportingStore(givenUp: (key: string) => void): MemoryBinding<MemoryLevels> {
  const binding = memory({ delaysMs: FOREVER });
  const submit = binding.submitOperation.bind(binding);
  binding.submitOperation = (operation, levels, sink, context) => {
    const { key } = operation.args as { readonly key: string };
    context.signal.addEventListener('abort', () => givenUp(key), { once: true });
    submit(operation, levels, sink, context);
  };
  return binding;
}

const { browser, reason } = await openBrowser();
const subject = reason === undefined ? 'wire in Chromium' : `wire in Chromium (skipped: ${reason})`;

describe.skipIf(browser === undefined)(subject, () => {
  let listener: GatewayListener;
  let page: Page;
  const server = createServer();
  const givenUp: string[] = [];

  beforeAll(async () => {
    const script = await bundlePage('wire-conformance.page.ts');
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    // The page's own origin: it must be let in without being listed, and pages of others not.
    const slow = reportingStore((key) => givenUp.push(key));
    const sites = {
      here: createGateway({ binding: memory() }),
      slow: createGateway({ binding: slow }),
    };
    listener = await listenGateways({ server, sites });
    server.on('request', (request, response) => {
      if (listener.handleHttp(request, response)) return;
      response.setHeader('content-type', 'text/html');
      // A page that may not generate code: the client must do without.
      response.setHeader(
        'content-security-policy',
        `script-src 'unsafe-inline'; connect-src 'self' ${wsOrigin()}`,
      );
      response.end(`<!doctype html><title>wire</title><script type="module">${script}</script>`);
    });
    page = await (browser as Browser).newPage();
    await page.goto(listener.url);
  });

  const wsOrigin = (): string => `ws://127.0.0.1:${(server.address() as AddressInfo).port}`;

  afterAll(async () => {
    await listener.close({ drainMs: 0 });
    server.closeAllConnections();
    server.close();
    await (browser as Browser).close();
  });

  test.concurrent.for(['msgpack', 'json'] as const)(
    'a read over %s that the page gives up, which stays → given up at the store',
    async (codec, { expect }) => {
      const code = await page.evaluate(
        ([url, how]) =>
          (
            globalThis as unknown as { giveUp: (url: string, codec: string) => Promise<string> }
          ).giveUp(url, how),
        [listener.siteUrl('slow'), codec] as const,
      );
      expect(code).toBe('ABORTED');
      await expect.poll(() => givenUp).toContain(codec);
    },
  );

  // Most of the contract is waiting: each codec waits beside the other, for objects of its own.
  test.concurrent.for(['msgpack', 'json'] as const)(
    'the contract of bindings over %s → kept',
    async (codec, { expect }) => {
      const run = (value: { url: string; codec: 'json' | 'msgpack' }): Promise<string[]> =>
        (
          globalThis as unknown as { runContract: (url: string, c: string) => Promise<string[]> }
        ).runContract(value.url, value.codec);
      const lines = await page.evaluate(run, { url: listener.siteUrl('here'), codec });
      expect(lines.filter((line) => !line.startsWith('ok '))).toEqual([]);
      expect(lines.length).toBeGreaterThan(8);
    },
  );
});
