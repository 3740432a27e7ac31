/**
 * `npm run example -- react-shop`: the packed package in a project of its own, and a customer who
 * buys in its page.
 */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { execute } from '../../scripts/smoke-package/project.ts';
import { accessibilityFaults } from '../support/axe.ts';
import { ODD_TARGETS, statusOf } from '../support/odd-request-targets.ts';
import { openBrowser } from './support/browser.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const project = `${root}build/examples/react-shop`;
const PICTURES = process.env['SHOP_PICTURES'] ?? `${root}build/react-shop`;
const START_TIMEOUT_MS = 300_000;

const { browser, reason } = await openBrowser();
const subject = reason === undefined ? 'react-shop' : `react-shop (skipped: ${reason})`;

describe.skipIf(browser === undefined)(subject, () => {
  let shop: ChildProcess;
  let url: string;

  beforeAll(async () => {
    const script = ['--import', 'tsx', `${root}scripts/example.ts`, 'react-shop', '--quiet'];
    shop = spawn(process.execPath, script, { cwd: root, stdio: ['ignore', 'pipe', 'inherit'] });
    for await (const line of createInterface({ input: shop.stdout! })) {
      const [, address] = /The shop is open: (\S+)/.exec(line) ?? [];
      if (address === undefined) continue;
      url = address;
      break;
    }
  }, START_TIMEOUT_MS);

  afterAll(async () => {
    await (browser as Browser).close();
    shop.kill('SIGKILL');
  });

  async function openShop(
    options: Parameters<Browser['newContext']>[0],
  ): Promise<{ context: BrowserContext; page: Page }> {
    const context = await (browser as Browser).newContext(options);
    const page = await context.newPage();
    await page.goto(url);
    await page.locator('.card').first().waitFor();
    return { context, page };
  }

  async function openConcert(page: Page, artist: string): Promise<void> {
    await page.locator('.card', { hasText: artist }).hover();
    await page.locator('.card', { hasText: artist }).click();
    await page.locator('[data-certainty="certain"]').waitFor();
  }

  const answers = (page: Page): Promise<string[]> =>
    page.evaluate(() => (globalThis as unknown as { answers: string[] }).answers);

  /** Records each answer, and whether it came with the final view. */
  const recordAnswers = (page: Page): Promise<void> =>
    page.evaluate(() => {
      const seen: string[] = [];
      Object.assign(globalThis, { answers: seen });
      const record = (): void => {
        const { answer, final } = document.querySelector<HTMLElement>('.answer')!.dataset;
        const line = `${answer} ${final === 'true' ? 'final' : 'early'}`;
        if (line !== seen.at(-1)) seen.push(line);
      };
      new MutationObserver(record).observe(document.querySelector('.purchase')!, {
        subtree: true,
        attributes: true,
      });
    });

  test.each(ODD_TARGETS)('GET %s → a page or 404, and it serves on', async (target) => {
    expect(await statusOf(url, target)).toBe(target === '/?%' ? 200 : 404);
  });

  test.each([
    ['desktop', { viewport: { width: 1280, height: 860 } }],
    ['phone', { viewport: { width: 390, height: 844 } }],
    ['dark', { viewport: { width: 1280, height: 860 }, colorScheme: 'dark' as const }],
  ])(
    '%s: plenty of tickets → an early answer; the last ones → the final answer',
    async (name, options) => {
      const { context, page } = await openShop(options);
      const errors: string[] = [];
      page.on('pageerror', (error) => errors.push(String(error)));
      const picture = (step: string): Promise<unknown> =>
        page.screenshot({ path: `${PICTURES}/${name}-${step}.png` });
      expect(await accessibilityFaults(page)).toEqual([]);
      await picture('1-program');

      await openConcert(page, 'Aurora');
      await recordAnswers(page);
      await page.click('.buy');
      await page.locator('[data-answer="yes"][data-final="true"]', { hasText: 'seat' }).waitFor();
      expect((await answers(page)).filter((answer) => !answer.startsWith('wait'))).toEqual([
        'yes early',
        'yes final',
      ]);
      expect(await accessibilityFaults(page)).toEqual([]);
      await picture('2-early-answer');

      await page.click('.back');
      await openConcert(page, 'Mina');
      await recordAnswers(page);
      await page.click('.buy');
      await page.locator('[data-answer="yes"][data-final="true"]', { hasText: 'seat' }).waitFor();
      expect(await answers(page)).toEqual(['wait early', 'yes final']);
      expect(await accessibilityFaults(page)).toEqual([]);
      await picture('3-last-tickets');
      expect(errors).toEqual([]);
      await context.close();
    },
  );

  test('no other customer buys → the stock that the customer sees falls by each purchase, to the last one, after which nothing can be bought', async () => {
    const { context, page } = await openShop({});
    await openConcert(page, 'Mina');
    for (
      let left = Number.parseInt((await page.textContent('.stock')) ?? '', 10);
      left > 0;
      left--
    ) {
      await page.click('.buy:enabled');
      await page.locator('[data-answer="yes"][data-final="true"]').waitFor();
      const stock = left === 1 ? 'Sold out' : `${left - 1} ticket`;
      await page.locator('.stock[data-certainty="certain"]', { hasText: stock }).waitFor();
    }
    await page.locator('.buy:disabled', { hasText: 'Sold out' }).waitFor();
    expect(await page.locator('[data-answer="yes"]').isVisible()).toBe(true);
    await context.close();
  });

  test('its sources → compile against the packed declarations', async () => {
    const { stdout } = await execute(process.execPath, [
      `${root}node_modules/typescript/bin/tsc`,
      '-p',
      project,
    ]).catch((error: unknown) => error as { stdout: string });
    expect(stdout).toBe('');
  });

  test('Ctrl-C → ends all of it', async () => {
    shop.kill('SIGINT');
    const [code] = (await once(shop, 'exit')) as [number];
    expect(code).toBe(0);
    await expect(fetch(url)).rejects.toThrow('fetch failed');
  });
});
