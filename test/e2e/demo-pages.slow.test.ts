/**
 * Every demo below the launcher's address, at three sizes: nothing fails, moves, is too small or
 * keeps people out.
 */
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { demos } from '../../demo/launcher/demos.ts';
import { startLauncher, type RunningLauncher } from '../../demo/launcher/server.ts';
import { accessibilityFaults } from '../support/axe.ts';
import { contextIn, openBrowser } from './support/browser.ts';
import { layoutShift, smallTargets } from './support/page-quality.ts';

/**
 * What a page shows once it is complete. A sale of tickets starts by itself, so nobody may see the
 * page before that. The news are complete once a headline has come after the first view. A slow
 * device may answer after the near site, and its own view is not shown then.
 */
const COMPLETE: Readonly<Record<string, string>> = {
  tickets: '#status:is([data-phase="selling"], [data-phase="sold-out"])',
  bank: '#status[data-phase="ready"]',
  social: '#status[data-phase="ready"]',
  cluster: '.node[data-state="running"] >> nth=2',
  kill: '.bar >> nth=10',
  news: '#stories li:is([data-new="causal"], [data-new="strong"])',
  ads: '#status[data-phase="delivered"]',
  twissandra: '#status[data-phase="delivered"]',
  case: '#home-ue .blue',
};

const SIZES = [
  ['desktop', { viewport: { width: 1280, height: 900 } }],
  ['tablet', { viewport: { width: 768, height: 1000 }, colorScheme: 'dark' }],
  ['phone', { viewport: { width: 390, height: 844 }, isMobile: true, hasTouch: true }],
] as const;

const { browser, reason } = await openBrowser();
const subject = reason === undefined ? 'demo pages' : `demo pages (skipped: ${reason})`;

describe.skipIf(browser === undefined)(subject, () => {
  let launcher: RunningLauncher;

  beforeAll(async () => {
    launcher = await startLauncher({ port: 0, demos });
  });

  afterAll(async () => {
    await launcher.close();
    await (browser as Browser).close();
  });

  describe.each(demos.map(({ name }) => name))('%s', (name) => {
    test.each(SIZES)('%s → complete, stable, and for everybody', async (size, options) => {
      const context = await contextIn(browser as Browser, options);
      const page = await context.newPage();
      const errors: string[] = [];
      page.on('pageerror', (error) => errors.push(error.message));
      await page.goto(`${launcher.url}/${name}/`);
      await page
        .locator(COMPLETE[name] as string)
        .first()
        .waitFor({ timeout: 60_000 });
      expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(
        options.viewport.width,
      );
      expect(await layoutShift(page)).toBeLessThan(0.1);
      if (size === 'phone') expect(await smallTargets(page)).toEqual([]);
      expect(await accessibilityFaults(page)).toEqual([]);
      expect(errors).toEqual([]);
      if (name === 'kill' && size === 'desktop') await killAndLook(page);
      await context.close();
    });
  });
});

async function killAndLook(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Kill the server' }).click();
  await page
    .locator('#headline', {
      hasText: /^Killed, back after [\d.]+ s, lost 0 of \d+ acknowledged writes\.$/,
    })
    .waitFor({ timeout: 60_000 });
}
