/**
 * A ticket shop whose pages are visited: started for the tests of one file, and closed after them.
 */
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { afterAll, beforeAll, describe } from 'vitest';
import { startShop } from '../../demo/tickets/server.ts';
import { openBrowser } from './support/browser.ts';
import { visit, type Visit } from './tickets-page-visit.ts';

/**
 * Opens the page of the shop, or of another one at `at`. A sale starts by itself unless the query
 * has `autostart=0`.
 */
export type Open = (
  query: string,
  options?: BrowserContextOptions,
  more?: { readonly at?: string; readonly prepare?: (page: Page) => Promise<void> },
) => Promise<Visit>;

/** Tests of a shop's pages; without a browser their name has the cause why they are skipped. */
export async function describeShop(name: string, tests: (open: Open) => void): Promise<void> {
  const { browser, reason } = await openBrowser();
  describe.skipIf(browser === undefined)(
    reason === undefined ? name : `${name} (skipped: ${reason})`,
    () => {
      let shop: Awaited<ReturnType<typeof startShop>>;

      beforeAll(async () => {
        shop = await startShop({ port: 0 });
      });

      afterAll(async () => {
        await shop.close();
        await (browser as Browser).close();
      });

      tests((query, options, { at = shop.url, prepare } = {}) =>
        visit(browser as Browser, `${at}/${query}`, options, prepare),
      );
    },
  );
}
