/**
 * The page of the social network in a real browser: posts, follows over two logs, rows that are
 * held, and whole reads.
 */
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { afterAll, describe, expect, test } from 'vitest';
import { FIRST_ACTIONS } from '../../demo/social/first-content.ts';
import { startNetwork, type RunningNetwork } from '../../demo/social/server.ts';
import { accessibilityFaults } from '../support/axe.ts';
import { contextIn, openBrowser } from './support/browser.ts';
import { smallTargets } from './support/page-quality.ts';

const READY = '#status[data-phase="ready"]';

const { browser, reason } = await openBrowser();

describe.skipIf(browser === undefined)(
  reason === undefined ? 'social page' : `social page (skipped: ${reason})`,
  () => {
    afterAll(() => (browser as Browser).close());

    test('opened → the timelines have messages of both regions', async () => {
      await using visit = await open();
      const { page } = visit;
      await page.locator('#eu').getByText('Gus Pancakes for breakfast. #1').waitFor();
      await page.locator('#us').getByText('Dan Who has a spare umbrella? #1').waitFor();
    });

    test('a post of Europe → in the timeline of an American who follows its author', async () => {
      await using visit = await open();
      const { page } = visit;
      const [eu, us] = [page.locator('#eu'), page.locator('#us')];
      await us.getByRole('button', { name: 'Follow Ada' }).click();
      await us.getByRole('button', { name: 'Unfollow Ada' }).waitFor();
      await eu.getByLabel('Message').fill('Good morning');
      await eu.getByRole('button', { name: 'Post' }).click();
      await us.getByText('Ada Good morning #1').waitFor();
      expect(await eu.getByRole('status').textContent()).toMatch(
        /^Ada posts: confirmed after [\d.]+ ms. It waited for the log of Europe.$/,
      );
      await us.getByText(/^log of America, with a hold in Europe of \d+ ms$/).waitFor();
      const { eu: inEurope, us: inAmerica } = FIRST_ACTIONS;
      expect(await readCount(page, 'committed')).toEqual(
        [inEurope, inAmerica].map((all) => String(all.length + 1)),
      );
      expect(await readCount(page, 'globals')).toEqual(['1', '2']);
      expect(await readCount(page, 'standing')).toEqual(['0', '0']);
      expect(await accessibilityFaults(page)).toEqual([]);
      expect(visit.errors).toEqual([]);
    });

    test('two users follow one American → both are confirmed, and strong reads show whole follows', async () => {
      await using visit = await open();
      const { page } = visit;
      await page
        .getByRole('button', {
          name: 'Ada follows Finn, and Eve follows Finn while the row is held',
        })
        .click();
      for (const region of ['#eu', '#us'])
        await page.locator(`${region} [data-outcome="done"]`).waitFor();
      await page
        .getByRole('button', { name: 'Ada unfollows Finn, and Eve unfollows Finn' })
        .waitFor();
      const reads = await readVerdict(page);
      await expect.poll(() => readVerdict(page)).toBeGreaterThan(reads + 1);
      expect(visit.errors).toEqual([]);
    });

    test('both users at work → they post and follow until they are stopped', async () => {
      await using visit = await open();
      const { page } = visit;
      await page.getByRole('button', { name: 'Let both users work' }).click();
      for (const region of ['#eu', '#us'])
        await expect.poll(() => page.locator(`${region} tbody tr`).count()).toBe(3);
      await page.getByRole('button', { name: 'Stop' }).click();
      await page.locator(READY).waitFor();
      expect(await readVerdict(page)).toBeGreaterThan(0);
    });

    test('another user → its own timeline and its own follows', async () => {
      await using visit = await open();
      const eu = visit.page.locator('#eu');
      await eu.getByLabel('You are').selectOption('Ben');
      await eu.getByText('Timeline of Ben').waitFor();
      await eu.getByRole('button', { name: 'Follow Ada' }).click();
      await eu.getByRole('status').getByText('Ben follows Ada: confirmed').waitFor();
    });

    test('closed while a visitor looks, and started again → the page reports it, and goes on', async () => {
      await using visit = await open();
      const { page, network } = visit;
      await network.close();
      await page.getByRole('alert').getByText('does not answer').waitFor();
      const again = await startNetwork({ port: Number(new URL(network.url).port) });
      await page.locator('#failure').waitFor({ state: 'hidden' });
      await page.locator('#eu').getByRole('button', { name: 'Follow Ben' }).click();
      await page.locator('#eu [data-outcome="done"]').waitFor();
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
        expect(await smallTargets(visit.page)).toEqual([]);
        expect(await accessibilityFaults(visit.page)).toEqual([]);
      },
    );
  },
);

interface Visit extends AsyncDisposable {
  readonly network: RunningNetwork;
  readonly page: Page;
  readonly errors: readonly string[];
}

/** Opens the page of a network of its own. */
async function open(options: BrowserContextOptions = {}): Promise<Visit> {
  const network = await startNetwork({ port: 0 });
  const context = await contextIn(browser as Browser, options);
  const page = await context.newPage();
  const errors: string[] = [];
  page.on('pageerror', (error) => errors.push(error.message));
  await page.goto(network.url);
  await page.locator(READY).waitFor();
  const close = async (): Promise<void> => {
    await context.close();
    await network.close();
  };
  return { network, page, errors, [Symbol.asyncDispose]: close };
}

/** A count of the logs of Europe and of America. */
async function readCount(page: Page, name: string): Promise<readonly string[]> {
  return await page.locator(`[data-count="${name}"] td`).allTextContents();
}

/** How many strong reads have shown whole follows. */
async function readVerdict(page: Page): Promise<number> {
  const [, reads = '0'] =
    /^Whole in (\d+) strong read/.exec((await page.textContent('#verdict')) ?? '') ?? [];
  return Number(reads);
}
