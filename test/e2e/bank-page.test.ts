/**
 * The bank's page in a real browser: early balances, refused transfers that are taken back, and a
 * total that stays.
 */
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { afterAll, describe, expect, test } from 'vitest';
import { startBank, type RunningBank } from '../../demo/bank/server.ts';
import { accessibilityFaults } from '../support/axe.ts';
import { contextIn, openBrowser } from './support/browser.ts';

const READY = '#status[data-phase="ready"]';

const { browser, reason } = await openBrowser();

describe.skipIf(browser === undefined)(
  reason === undefined ? 'bank page' : `bank page (skipped: ${reason})`,
  () => {
    afterAll(() => (browser as Browser).close());

    test('a transfer → its balances are early first, then confirmed, and then at the other site', async () => {
      await using visit = await open();
      const { page } = visit;
      const seen = await recordBalance(page, 'virginia', 'Ada');
      const virginia = page.locator('#virginia');
      await virginia.getByLabel('Move €').fill('30');
      await virginia.getByRole('button', { name: 'Transfer' }).click();
      await page.locator('#virginia [data-status="confirmed"]').waitFor();
      await page.locator('#frankfurt [data-account="Ada"]', { hasText: '€70' }).waitFor();
      expect((await seen()).slice(-2)).toEqual(['€70 early', '€70 confirmed']);
      const [early = 0, confirmed = 0] = await readMs(page, '#virginia [data-status="confirmed"]');
      expect(early).toBeLessThan(confirmed);
      expect(await virginia.getByRole('status').textContent()).toBe(
        '€30 from Ada to Ben: confirmed.',
      );
      expect(visit.errors).toEqual([]);
    });

    test('both spend the same last money → one early balance is taken back, and the total stays', async () => {
      await using visit = await open();
      const { page } = visit;
      const reads = await readTotals(page);
      const seen = await recordBalance(page, 'virginia', 'Cleo');
      await page.getByRole('button', { name: 'Both spend the same last money' }).click();
      await page
        .getByText('The last €100 of Ada: confirmed in Frankfurt, taken back in Virginia.')
        .waitFor();
      // The page may have drawn the balance once more before.
      expect((await seen()).slice(-2)).toEqual(['€200 early', '€200 €100 taken back']);
      expect(await page.locator('#virginia').getByRole('status').textContent()).toBe(
        '€100 from Ada to Cleo: taken back. Ada has only €0: another transfer was first.',
      );
      expect(await page.locator('#frankfurt [data-account="Ben"]').innerText()).toMatch(
        /€200\s+confirmed/,
      );
      await expect.poll(() => readTotals(page)).toBeGreaterThan(reads + 1);
      expect(await page.textContent('#total')).toBe('€400');
      expect(await page.textContent('[data-count="takenBack"]')).toBe('1');
      expect(await accessibilityFaults(page)).toEqual([]);
      expect(visit.errors).toEqual([]);
    });

    test('both tellers at work with the measured delays → the total stays, and they stop', async () => {
      await using visit = await open();
      const { page } = visit;
      await page.getByRole('link', { name: 'Use the measured delays' }).click();
      await page.getByText('20 ms to Ireland and back').waitFor();
      await page.getByRole('button', { name: 'Let both tellers work' }).click();
      await expect
        .poll(async () => Number(await page.textContent('[data-count="confirmed"]')))
        .toBeGreaterThan(3);
      await page.getByRole('button', { name: 'Stop' }).click();
      await page.locator(READY).waitFor();
      const reads = await readTotals(page);
      await expect.poll(() => readTotals(page)).toBeGreaterThan(reads);
      expect(await page.textContent('#total')).toBe('€400');
      expect(visit.errors).toEqual([]);
    });

    test('more money than there is → refused at once, with the reason', async () => {
      await using visit = await open();
      const { page } = visit;
      const frankfurt = page.locator('#frankfurt');
      await frankfurt.getByLabel('Move €').fill('101');
      await frankfurt.getByRole('button', { name: 'Transfer' }).click();
      await frankfurt.getByText('€101 from Ada to Ben: refused. Ada has only €100.').waitFor();
      expect(await page.textContent('[data-count="refused"]')).toBe('1');
    });

    test('closed while a visitor looks, and started again → the page reports it, and goes on', async () => {
      await using visit = await open();
      const { page, bank } = visit;
      await bank.close();
      await page.getByRole('alert').getByText('does not answer').waitFor();
      const again = await startBank({ port: Number(new URL(bank.url).port) });
      await page.locator('#failure').waitFor({ state: 'hidden' });
      await page.locator('#frankfurt').getByRole('button', { name: 'Transfer' }).click();
      await page.locator('#frankfurt [data-status="confirmed"]').waitFor();
      await again.close();
    });

    test.each(['light', 'dark'] as const)(
      'a small phone in the %s → all fits, and is for everybody',
      async (scheme) => {
        await using visit = await open({
          viewport: { width: 320, height: 640 },
          colorScheme: scheme,
        });
        expect(
          await visit.page.evaluate(() => document.documentElement.scrollWidth),
        ).toBeLessThanOrEqual(320);
        expect(await accessibilityFaults(visit.page)).toEqual([]);
      },
    );
  },
);

interface Visit extends AsyncDisposable {
  readonly bank: RunningBank;
  readonly page: Page;
  readonly errors: readonly string[];
}

/** Opens the page of a bank of its own. */
async function open(options: BrowserContextOptions = {}): Promise<Visit> {
  const bank = await startBank({ port: 0 });
  const context = await contextIn(browser as Browser, options);
  const page = await context.newPage();
  const errors: string[] = [];
  page.on('pageerror', (error) => errors.push(error.message));
  await page.goto(bank.url);
  await page.locator(READY).waitFor();
  const close = async (): Promise<void> => {
    await context.close();
    await bank.close();
  };
  return { bank, page, errors, [Symbol.asyncDispose]: close };
}

/** Records each balance that a teller shows for an account from now on, with its mark. */
async function recordBalance(
  page: Page,
  site: string,
  account: string,
): Promise<() => Promise<readonly string[]>> {
  const row = page.locator(`#${site} [data-account="${account}"]`);
  const recorded = await row.evaluateHandle((element) => {
    const read = (): string =>
      [...element.querySelectorAll('td')].map((cell) => cell.textContent).join(' ');
    const texts = [read()];
    const observer = new MutationObserver(() => {
      if (read() !== texts.at(-1)) texts.push(read());
    });
    observer.observe(element, { subtree: true, childList: true, characterData: true });
    return texts;
  });
  return () => recorded.evaluate(([, ...later]) => later);
}

/** The durations in a row of the transfers. */
async function readMs(page: Page, row: string): Promise<number[]> {
  const text = (await page.locator(row).first().innerText()).replaceAll('\n', ' ');
  return [...text.matchAll(/([\d.]+) ms/g)].map(([, ms]) => Number(ms));
}

/** How often the total was read and had not changed. */
async function readTotals(page: Page): Promise<number> {
  const [, reads = '0'] =
    /^Unchanged in (\d+) reads$/.exec((await page.textContent('#verdict')) ?? '') ?? [];
  return Number(reads);
}
