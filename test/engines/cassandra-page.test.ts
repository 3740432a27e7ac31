/**
 * A page in a real browser, a gateway beside the coordinator, a real cluster: one request, two
 * views, no statement shown.
 */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  cassandra,
  implementStatements,
  getKeyValueTableCql,
  oneRow,
} from '../../src/bindings/cassandra/index.ts';
import { createGateway, listenGateways, type GatewayListener } from '../../src/server/index.ts';
import { launchChromium } from '../../bench/harness/chromium.ts';
import type { Visit } from './cassandra-page.page.ts';
import { shop } from './support/cassandra-shop-contract.ts';
import { withCassandra } from './support/cassandra.ts';
import { besideFrankfurt } from './support/cassandra-read-strategies.ts';

const { browser, reason } = await launchChromium();
const subject =
  reason === undefined ? 'Cassandra from a page' : `Cassandra from a page (skipped: ${reason})`;
const it = withCassandra();

const statements = implementStatements(shop, {
  price: {
    cql: 'SELECT cents FROM prices WHERE item = :item',
    result: oneRow((row) => row['cents'] as number),
  },
  setPrice: { cql: 'UPDATE prices SET cents = :cents WHERE item = :item', isIdempotent: true },
  clear: { cql: 'TRUNCATE prices' },
});

describe.skipIf(browser === undefined)(subject, () => {
  const server = createServer();
  const store = { close: async (): Promise<void> => {} };
  let listener: GatewayListener;
  let page: Page;
  let script: string;

  beforeAll(async () => {
    const client = it.client('frankfurt');
    await client.execute(getKeyValueTableCql({ keyspace: it.keyspace }));
    await client.execute(`CREATE TABLE ${it.keyspace}.prices (item text PRIMARY KEY, cents int)`);
    const { outputFiles } = await build({
      entryPoints: [fileURLToPath(new URL('cassandra-page.page.ts', import.meta.url))],
      bundle: true,
      format: 'esm',
      platform: 'browser',
      write: false,
    });
    script = outputFiles[0]?.text ?? '';
    const binding = cassandra({ ...besideFrankfurt(it), statements });
    store.close = () => binding.close();
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const gateway = createGateway({
      binding,
      contract: shop,
      authorize: (_, { name }) => name !== 'clear',
    });
    listener = await listenGateways({ server, sites: { frankfurt: gateway } });
    const sockets = `ws://127.0.0.1:${(server.address() as AddressInfo).port}`;
    server.on('request', (request, response) => {
      if (listener.handleHttp(request, response)) return;
      response.setHeader('content-type', 'text/html');
      response.setHeader(
        'content-security-policy',
        `script-src 'unsafe-inline'; connect-src 'self' ${sockets}`,
      );
      response.end(`<!doctype html><title>shop</title><script type="module">${script}</script>`);
    });
    page = await (browser as Browser).newPage();
    await page.goto(listener.url);
  });

  afterAll(async () => {
    await browser?.close();
    await listener?.close({ drainMs: 0 });
    server.closeAllConnections();
    server.close();
    await store.close();
  });

  test('page: reads by name → an early view of one replica, then a confirmation of the quorum', async () => {
    const run = (url: string): Promise<Visit> =>
      (globalThis as unknown as { visit: (url: string) => Promise<Visit> }).visit(url);
    const { prices, note, refused } = await page.evaluate(run, listener.siteUrl('frankfurt'));
    const twice = (value: unknown): object[] => [
      { level: 'weak', final: false, confirms: false, value },
      { level: 'strong', final: true, confirms: true, value },
    ];
    expect(prices).toEqual(twice(250));
    expect(note).toEqual(twice({ by: 'page' }));
    expect(refused).toEqual(['INVALID_ARGUMENT', 'UNSUPPORTED', 'FORBIDDEN']);
  });

  test('page: its script → neither a statement nor the binding is in it', () => {
    expect(script).toContain('setPrice');
    for (const secret of ['SELECT', 'UPDATE prices', 'cassandra-driver', 'contactPoints']) {
      expect(script.includes(secret)).toBe(false);
    }
  });
});
