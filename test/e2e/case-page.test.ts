/** The page of a case study in a real browser: requests, their colours and latencies at each site, while users work. */
import type { Browser, Page } from 'playwright-core';
import { afterAll, describe, expect, test } from 'vitest';
import { startStudyPage, type RunningStudy } from '../../demo/case-studies/page-server.ts';
import { studyOf } from '../../demo/case-studies/studies.ts';
import { accessibilityFaults } from '../support/axe.ts';
import { launchChromium } from '../support/chromium.ts';

const { browser, reason } = await launchChromium();
const subject = reason === undefined ? 'case study page' : `case study page (skipped: ${reason})`;

describe.skipIf(browser === undefined)(subject, () => {
  afterAll(() => (browser as Browser).close());

  test('users at two sites → each request with its latencies, purchases red, and invariants that hold', async () => {
    const running = await start();
    try {
      await visit(running.url, {}, async (page, errors) => {
        await page.getByRole('heading', { name: 'tpcw' }).waitFor();
        await page.locator('#buyConfirm-uw .red').waitFor();
        await page.locator('#home-ue .blue').waitFor();
        expect(await page.locator('#home-ue .red').count()).toBe(0);
        expect(await page.locator('tbody tr').count()).toBe(14);
        expect(await page.locator('#invariants').textContent()).toBe('held so far');
        expect(await page.locator('#failed').textContent()).toBe('none');
        expect(errors).toEqual([]);
      });
    } finally {
      await running.close();
    }
  });

  test.each(['light', 'dark'] as const)('a small phone in the %s → all fits, and keeps nobody out', async (scheme) => {
    const running = await start();
    try {
      await visit(running.url, { viewport: { width: 320, height: 640 }, colorScheme: scheme }, async (page) => {
        await page.locator('#home-ue .blue').waitFor();
        expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(320);
        expect(await accessibilityFaults(page)).toEqual([]);
      });
    } finally {
      await running.close();
    }
  });

  test('closed while somebody looks → the page says so', async () => {
    const running = await start();
    await visit(running.url, {}, async (page) => {
      await page.locator('#home-ue .blue').waitFor();
      await running.close();
      await page.getByRole('alert').getByText('has been closed').waitFor();
    });
  });

  async function visit(url: string, options: object, look: (page: Page, errors: string[]) => Promise<void>) {
    const context = await (browser as Browser).newContext({ locale: 'en-GB', ...options });
    const page = await context.newPage();
    const errors: string[] = [];
    page.on('pageerror', (error) => errors.push(error.message));
    await page.goto(url);
    await look(page, errors);
    await context.close();
  }
});

async function start(): Promise<RunningStudy> {
  const study = await studyOf('tpcw');
  const options = { study, mix: 'ordering', sites: 2, users: 3, scale: 0.001, seconds: 0, think: 0.01, seed: 1 };
  return startStudyPage({ ...options, wan: 'none', port: 0 }, () => {});
}
