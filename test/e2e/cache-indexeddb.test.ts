/** The cache in a real browser: what IndexedDB keeps over a reload, for whom, and offline. */
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { openBrowser } from './support/browser.ts';
import { bundlePage } from './support/page-bundle.ts';

const ORIGIN = 'https://reader.test/';
const { browser, reason } = await openBrowser();
const subject = reason === undefined ? 'cache: IndexedDB' : `cache: IndexedDB (skipped: ${reason})`;

interface Visit {
  readonly isOffline: boolean;
  readonly principal: string;
  readonly clear?: boolean;
}

describe.skipIf(browser === undefined)(subject, () => {
  let script: string;
  let page: Page;

  beforeAll(async () => {
    script = await bundlePage('cache-indexeddb.page.ts');
  });

  beforeEach(async () => {
    // A context of its own has a database of its own.
    const context = await (browser as Browser).newContext();
    page = await context.newPage();
    const html = `<!doctype html><title>reader</title><script type="module">${script}</script>`;
    await page.route(`${ORIGIN}**`, (route) =>
      route.fulfill({ contentType: 'text/html', body: html }),
    );
    await page.goto(ORIGIN);
    return () => context.close();
  });

  afterAll(async () => {
    await (browser as Browser).close();
  });

  /** One visit of the page, freshly loaded. */
  async function visit(options: Visit): Promise<string[]> {
    await page.reload();
    return page.evaluate(
      (value) => (globalThis as unknown as { visit: (o: Visit) => Promise<string[]> }).visit(value),
      options,
    );
  }

  const profile = 'name:"Ada" born:1815-12-10T00:00:00.000Z photo:bytes(1,2,3) visits:7n';

  test('read online, page reloaded, offline → the same views, dates, bytes and bigints included', async () => {
    const online = await visit({ isOffline: false, principal: 'ada' });
    expect(online).toEqual([`profile origin ${profile}`, 'news origin 0:"first" 1:"second"']);
    const offline = await visit({ isOffline: true, principal: 'ada' });
    expect(offline).toEqual([`profile cache ${profile}`, 'news cache 0:"first" 1:"second"']);
  });

  test('offline, another principal → UNAVAILABLE', async () => {
    await visit({ isOffline: false, principal: 'ada' });
    expect(await visit({ isOffline: true, principal: 'bob' })).toEqual([
      'profile UNAVAILABLE',
      'news UNAVAILABLE',
    ]);
  });

  test('cleared at signing out → nothing is left after a reload', async () => {
    await visit({ isOffline: false, principal: 'ada', clear: true });
    expect(await visit({ isOffline: true, principal: 'ada' })).toEqual([
      'profile UNAVAILABLE',
      'news UNAVAILABLE',
    ]);
  });

  test('the database is deleted while open → the cache makes way and opens a new one', async () => {
    await visit({ isOffline: false, principal: 'ada' });
    await page.reload();
    const deletion = await page.evaluate(() =>
      (globalThis as unknown as { deleteWhileOpen: () => Promise<string> }).deleteWhileOpen(),
    );
    expect(deletion).toBe('deleted, 0 left');
  });
});
