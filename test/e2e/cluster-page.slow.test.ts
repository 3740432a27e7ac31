/**
 * The cluster's page in a real browser: a site is killed in the middle of a sale, and no ticket is
 * lost.
 */
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { startClusterPage } from '../../demo/cluster/page-server.ts';
import { accessibilityFaults } from '../support/axe.ts';
import { openBrowser } from './support/browser.ts';
import { counts, inPhase, visit } from './tickets-page-visit.ts';

const PATIENCE = { timeout: 60_000 };

function site(page: Page, name: string, state: string): Promise<void> {
  return page.locator(`[data-site="${name}"][data-state="${state}"]`).waitFor(PATIENCE);
}

function press(page: Page, name: string, action: string): Promise<void> {
  return page.locator(`[data-site="${name}"] [data-action="${action}"]`).click();
}

const { browser, reason } = await openBrowser();

describe.skipIf(browser === undefined)(
  reason === undefined ? 'cluster page' : `cluster page (skipped: ${reason})`,
  () => {
    let shop: Awaited<ReturnType<typeof startClusterPage>>;

    beforeAll(async () => {
      // The page may listen on the port in `PORT`. Its sites do not read that.
      vi.stubEnv('PORT', 'of the page');
      shop = await startClusterPage({ port: 0, wan: 'paper' });
    });

    afterAll(async () => {
      await shop.close();
      await (browser as Browser).close();
    });

    test('a site is killed and started again during a sale → its retailers move, and every ticket is sold once', async () => {
      await using visited = await visit(browser as Browser, `${shop.url}/?tickets=120&pace=60`);
      const { page } = visited;
      for (const name of ['ireland', 'frankfurt', 'virginia']) await site(page, name, 'running');
      await page.locator('#purchases tr').nth(10).waitFor(PATIENCE);
      await press(page, 'frankfurt', 'kill');
      await site(page, 'frankfurt', 'killed');
      await page.getByText('Its 2 retailers sell in Ireland.').waitFor(PATIENCE);
      await press(page, 'frankfurt', 'start');
      await site(page, 'frankfurt', 'running');
      await inPhase(page, 'sold-out');
      const { confirmed, revoked, duplicates, oversold } = await counts(page);
      expect({ sold: confirmed - revoked, duplicates, oversold }).toEqual({
        sold: 120,
        duplicates: 0,
        oversold: 0,
      });
      const perSite = await page.locator('.node .numbers').allTextContents();
      const sold = perSite.map((text) => Number(/^(\d+) sold/.exec(text)?.[1]));
      expect(sold.reduce((sum, count) => sum + count, 0)).toBe(120);
      expect(await accessibilityFaults(page)).toEqual([]);
      expect(visited.errors).toEqual([]);
    });

    test('the site that orders the sales is killed → the page says what waits and what to do, also after a reload', async () => {
      await using visited = await visit(browser as Browser, `${shop.url}/?tickets=60&pace=60`);
      const { page } = visited;
      await page.locator('#purchases tr').nth(5).waitFor(PATIENCE);
      expect(
        await page.locator('.node', { hasText: 'orders the sales' }).getAttribute('data-site'),
      ).toBe('ireland');
      await press(page, 'ireland', 'kill');
      const stall = page.locator('#cluster-stall', { hasText: 'Press “Start again” at Ireland.' });
      await stall.waitFor(PATIENCE);
      expect(await stall.textContent()).toMatch(
        /[1-9]\d* customers? waits? for the confirmed answer/,
      );
      await page.reload();
      await stall.waitFor(PATIENCE);
      await press(page, 'ireland', 'start');
      await inPhase(page, 'sold-out');
      expect(await page.locator('#cluster-stall').isHidden()).toBe(true);
      expect(visited.errors).toEqual([]);
    });

    test('a site is frozen, another cut off → shown, and shown again as running once that is over', async () => {
      const phone = { viewport: { width: 390, height: 800 } };
      await using visited = await visit(
        browser as Browser,
        `${shop.url}/?tickets=500&pace=400`,
        phone,
      );
      const { page } = visited;
      await page.locator('#purchases tr').nth(3).waitFor(PATIENCE);
      await press(page, 'virginia', 'freeze');
      await site(page, 'virginia', 'frozen');
      await page.getByText('Its retailer sells in Ireland.').waitFor(PATIENCE);
      await press(page, 'virginia', 'continue');
      await site(page, 'virginia', 'running');
      await press(page, 'frankfurt', 'cut');
      await site(page, 'frankfurt', 'cut');
      await press(page, 'frankfurt', 'reconnect');
      await site(page, 'frankfurt', 'running');
      expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(
        390,
      );
      expect(visited.errors).toEqual([]);
    });
  },
);
