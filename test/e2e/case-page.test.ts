/**
 * The page of a case study in a real browser: requests, their colors and latencies at each site,
 * while users work.
 */
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startStudyPage, type RunningStudy } from '../../research/case-studies/page-server.ts';
import { studyOf } from '../../research/case-studies/studies.ts';
import { accessibilityFaults } from '../support/axe.ts';
import { contextIn, openBrowser } from './support/browser.ts';

const { browser, reason } = await openBrowser();
const subject = reason === undefined ? 'case study page' : `case study page (skipped: ${reason})`;

describe.skipIf(browser === undefined)(subject, () => {
  let study: RunningStudy;

  beforeAll(async () => {
    study = await start();
  });

  afterAll(async () => {
    await study.close();
    await (browser as Browser).close();
  });

  test('users at two sites → each request with its latencies, purchases red, and invariants that hold', async () => {
    await visit(study.url, {}, async (page, errors) => {
      await page.getByRole('heading', { name: 'Online shop' }).waitFor();
      await page.locator('#buyConfirm-uw .red').waitFor();
      await page.locator('#home-ue .blue').waitFor();
      expect(await page.locator('#home-ue .red').count()).toBe(0);
      expect(await page.locator('tbody tr').count()).toBe(14);
      expect(await page.locator('#invariants').textContent()).toBe('held so far');
      expect(await page.locator('#failed').textContent()).toBe('none');
      expect(await page.textContent('#finding')).toMatch(
        /answered by the nearest site.*Only Buy confirm waits/,
      );
      expect(errors).toEqual([]);
    });
  });

  test.each(['light', 'dark'] as const)(
    'a small phone in the %s → all fits, and the page is accessible',
    async (scheme) => {
      await visit(
        study.url,
        { viewport: { width: 320, height: 640 }, colorScheme: scheme },
        async (page) => {
          await page.locator('#home-ue .blue').waitFor();
          expect(
            await page.evaluate(() => document.documentElement.scrollWidth),
          ).toBeLessThanOrEqual(320);
          expect(await accessibilityFaults(page)).toEqual([]);
        },
      );
    },
  );

  test('closed while a visitor looks, and started again → the page reports it, and goes on', async () => {
    const running = await start();
    await visit(running.url, {}, async (page) => {
      await page.locator('#home-ue .blue').waitFor();
      await running.close();
      await page.getByRole('alert').getByText('does not answer').waitFor();
      const again = await start(Number(new URL(running.url).port));
      await page.locator('#failure').waitFor({ state: 'hidden' });
      await page.locator('#home-ue .blue').waitFor();
      await again.close();
    });
  });

  async function visit(
    url: string,
    options: object,
    look: (page: Page, errors: string[]) => Promise<void>,
  ) {
    const context = await contextIn(browser as Browser, options);
    const page = await context.newPage();
    const errors: string[] = [];
    page.on('pageerror', (error) => errors.push(error.message));
    await page.goto(url);
    await look(page, errors);
    await context.close();
  }
});

async function start(port = 0): Promise<RunningStudy> {
  const options = {
    study: await studyOf('tpcw'),
    mix: 'ordering',
    sites: 2,
    users: 3,
    scale: 0.001,
    seconds: 0,
    think: 0.01,
    seed: 1,
  };
  return startStudyPage({ ...options, wan: 'none', port }, () => {});
}
