/**
 * A page on a device that goes offline, in a real browser: online, offline, loaded again offline,
 * online again, signed out, signed in as another user. Offline here is no setting of the browser:
 * nothing answers at the page's address any more, and its service worker has the page itself. A
 * picture of each step is put into OFFLINE_PICTURES. Default: `build/offline`.
 */
import { fileURLToPath } from 'node:url';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { NotesSite } from './offline/site.ts';
import { openBrowser } from './support/browser.ts';

const PICTURES =
  process.env['OFFLINE_PICTURES'] ?? fileURLToPath(new URL('../../build/offline', import.meta.url));

const { browser, reason } = await openBrowser();
const subject = reason === undefined ? 'a page offline' : `a page offline (skipped: ${reason})`;

describe.skipIf(browser === undefined)(subject, () => {
  let site: NotesSite;
  let context: BrowserContext;
  let page: Page;

  beforeAll(async () => {
    site = await NotesSite.start();
    context = await (browser as Browser).newContext({
      locale: 'en-GB',
      viewport: { width: 560, height: 420 },
    });
    page = await context.newPage();
    await page.goto(site.url);
    // From now on the page can be loaded without its server.
    await page.evaluate(() => navigator.serviceWorker.ready);
  });

  afterAll(async () => {
    await context.close();
    await site[Symbol.asyncDispose]();
    await (browser as Browser).close();
  });

  /** Waits for the note, at a level, and for the state of the connection. */
  async function shows(
    text: string,
    level: string,
    connection: 'Online' | 'Offline',
  ): Promise<void> {
    await page.locator(`#note[data-level="${level}"]`, { hasText: text }).waitFor();
    await page.locator('#connection', { hasText: connection }).waitFor();
  }

  const picture = (name: string): Promise<unknown> =>
    page.screenshot({ path: `${PICTURES}/${name}.png` });

  /** All that IndexedDB has, of whatever database, as text. */
  const stored = (): Promise<string> =>
    page.evaluate(async () => {
      const done = <T>(request: IDBRequest<T>): Promise<T> =>
        new Promise((resolve, reject) => {
          request.addEventListener('success', () => resolve(request.result));
          request.addEventListener('error', () => reject(request.error as Error));
        });
      const found: unknown[] = [];
      for (const { name = '' } of await indexedDB.databases()) {
        const database = await done(indexedDB.open(name));
        for (const store of database.objectStoreNames) {
          const rows = database.transaction(store).objectStore(store);
          found.push(
            await done(rows.getAllKeys()),
            await done(database.transaction(store).objectStore(store).getAll()),
          );
        }
        database.close();
      }
      return JSON.stringify(found);
    });

  test('online, offline, loaded again offline, online again, signed out, another user', async () => {
    await site.write('ann', 'call bob');
    await page.click('[data-user="ann"]');
    await shows('call bob', 'strong', 'Online');
    await expect.poll(stored).toContain('call bob');
    await picture('1-online');

    await site.goAway();
    await page.locator('#connection', { hasText: 'Offline' }).waitFor();
    await page.click('#ask');
    await shows('call bob', 'cache', 'Offline');
    await picture('2-offline');

    await page.reload();
    await shows('call bob', 'cache', 'Offline');
    // Its read ends unanswered, and what was kept stays.
    await page.locator('#known', { hasText: 'does not answer' }).waitFor();
    await shows('call bob', 'cache', 'Offline');
    await picture('3-reloaded-offline');

    await site.write('ann', 'call bob at noon');
    site.reads = 0;
    await site.comeBack();
    await shows('call bob at noon', 'strong', 'Online');
    await picture('4-back-online');
    expect(site.reads).toBe(1);

    await page.click('#sign-out');
    await page.locator('#out').waitFor();
    await picture('5-signed-out');
    expect(await stored()).not.toContain('call bob');

    await page.click('[data-user="bob"]');
    await shows('No note yet.', 'strong', 'Online');
    await picture('6-signed-in-as-bob');
    await site.goAway();
    await page.reload();
    await shows('No note yet.', 'cache', 'Offline');
    expect(await page.textContent('main')).not.toContain('call bob');
  });

  test('a read is in flight when the site comes back → it is answered, and not retried', async () => {
    await page.click('#ask');
    await shows('No note yet.', 'cache', 'Offline');
    await site.write('bob', 'call ann');
    site.reads = 0;
    await site.comeBack();
    // As the browser reports when it has a network again: the connection is tried at once.
    await page.evaluate(() => dispatchEvent(new Event('online')));
    await shows('call ann', 'strong', 'Online');
    expect(site.reads).toBe(1);
  });
});
