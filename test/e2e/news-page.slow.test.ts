/**
 * The news page in a real browser: three views of one call, causal order, a reader who goes offline
 * and who moves.
 */
import type { Browser, BrowserContext, BrowserContextOptions, Page } from 'playwright-core';
import { afterAll, describe, expect, test } from 'vitest';
import { startNews, type RunningNews } from '../../demo/news/server.ts';
import { accessibilityFaults } from '../support/axe.ts';
import { contextIn, openBrowser } from './support/browser.ts';
import { layoutShift, smallTargets } from './support/page-quality.ts';

const READY = '#status[data-phase="ready"]';
const CONFIRMED = '#steps [data-step="strong"][data-state="done"]';
const ORPHAN = '#copies .orphan';

const { browser, reason } = await openBrowser();

describe.skipIf(browser === undefined)(
  reason === undefined ? 'news page' : `news page (skipped: ${reason})`,
  () => {
    afterAll(() => (browser as Browser).close());

    test('a headline published meanwhile → the device is first, and the confirmed view brings it', async () => {
      await using visit = await open();
      const { page } = visit;
      await page.locator(CONFIRMED).getByText('1 new').waitFor();
      const [cache = 0, causal = 0, strong = 0] = await readStepMs(page);
      expect(cache).toBeLessThan(strong);
      expect(causal).toBeLessThan(strong);
      expect(await page.textContent('#steps [data-step="causal"]')).toContain('nothing new');
      expect(await page.textContent('#stories li:first-child')).toContain('Bergen · new');
      expect(visit.errors).toEqual([]);
    });

    test('an answer before its question → plain copies show it, and the causal store waits', async () => {
      await using visit = await open();
      const { page } = visit;
      const causal = await recordVerdicts(page, '#causal');
      await page.locator(ORPHAN).waitFor();
      expect(await page.textContent('#copies .verdict')).toBe('1 answer without a question');
      await page.locator('#causal .verdict', { hasText: '1 comment waits' }).waitFor();
      await page.locator('#causal .answer').waitFor();
      await page.locator(ORPHAN).waitFor({ state: 'detached' });
      expect((await causal()).filter((verdict) => !verdict.startsWith('In order'))).toEqual([]);
      expect(await page.textContent('#times-wrong')).toBe('Wrong once so far.');
      expect(await accessibilityFaults(page)).toEqual([]);
      expect(await layoutShift(page)).toBeLessThan(0.1);
      expect(visit.errors).toEqual([]);
    });

    test('moved to a site that lacks the own comment → it waits, and the comment is there', async () => {
      await using visit = await open();
      const { page } = visit;
      // Nothing plays by itself where comments are.
      await postComment(page, 'Hello from Sydney');
      await page.locator('#post', { hasText: 'Stored in Sydney' }).waitFor();
      await choose(page, 'Dublin');
      await page.locator('#move', { hasText: 'Dublin answered' }).waitFor();
      await page.getByRole('button', { name: 'Cut the line' }).click();
      await page.getByRole('button', { name: 'Repair the line' }).waitFor();
      await postComment(page, 'Hello from Dublin');
      await page.locator('#post', { hasText: 'Stored in Dublin' }).waitFor();
      await choose(page, 'Sydney');
      await page.locator('#copies .verdict', { hasText: '1 comment of yours missing' }).waitFor();
      expect(await page.textContent('#move')).toBe(
        'Waiting until Sydney has all that you have read and written…',
      );
      await page.getByRole('button', { name: 'Repair the line' }).click();
      await page.locator('#move', { hasText: 'Your own comments are there.' }).waitFor();
      expect(await page.textContent('#causal ol')).toContain('You Hello from Dublin');
      expect(visit.errors).toEqual([]);
    });

    test('offline → the page reads from the device, and a comment is refused with the reason and kept', async () => {
      await using visit = await open();
      const { page } = visit;
      await page.locator('#thread-ms', { hasText: 'all sites' }).waitFor();
      await page.locator(CONFIRMED).getByText('1 new').waitFor();
      await page.getByRole('button', { name: 'Go offline' }).click();
      await page.locator('#headline', { hasText: 'Offline: newer headlines may exist.' }).waitFor();
      expect(await page.textContent('#stories li:first-child')).toContain(
        'Storm delays flights in the north',
      );
      expect(await page.textContent('#thread-ms')).toBe('Offline: read from this device.');
      await postComment(page, 'Is it open?');
      await page.locator('#post', { hasText: 'waits a few seconds' }).waitFor();
      await page.locator('#post', { hasText: 'Not sent, since there is no connection.' }).waitFor();
      expect(await page.inputValue('#text')).toBe('Is it open?');
      await page.getByRole('button', { name: 'Go online' }).click();
      await page.locator(CONFIRMED).waitFor();
      await page.getByRole('button', { name: 'Post' }).click();
      await page.locator('#post', { hasText: 'Stored in Sydney' }).waitFor();
      expect(await page.inputValue('#text')).toBe('');
    });

    test('two tabs → they share the device, and see and answer the comments of each other', async () => {
      await using visit = await open();
      const { page, context, news } = visit;
      await page.locator('#steps [data-step="strong"][data-state="done"]').waitFor();
      const other = await context.newPage();
      await other.goto(news.url);
      await other.locator('#steps [data-step="cache"][data-state="done"]').waitFor();
      await postComment(page, 'Who takes the ferry?');
      await other.locator('#causal', { hasText: 'Guest 1 Who takes the ferry?' }).waitFor();
      await other.getByRole('button', { name: 'Answer: Who takes the ferry?' }).click();
      await other.getByLabel('Your answer to Guest 1').fill('I do.');
      await other.getByRole('button', { name: 'Post' }).click();
      await page.locator('#causal .answer', { hasText: 'Guest 2 I do.' }).waitFor();
      expect(visit.errors).toEqual([]);
    });

    test('closed while a visitor looks, and started again → the page reports it, and goes on', async () => {
      await using visit = await open();
      const { page, news } = visit;
      await news.close();
      await page.getByRole('alert').getByText('does not answer').waitFor();
      const again = await startNews({ port: Number(new URL(news.url).port), delays: 'measured' });
      await page.locator('#failure').waitFor({ state: 'hidden' });
      await page.getByRole('button', { name: 'Open the news again' }).click();
      await page.locator(CONFIRMED).waitFor();
      await again.close();
    });

    test.each(['light', 'dark'] as const)(
      'a small phone in the %s → all fits, and is for everybody',
      async (scheme) => {
        await using visit = await open({
          viewport: { width: 320, height: 640 },
          colorScheme: scheme,
        });
        const { page } = visit;
        expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(
          320,
        );
        await page.locator(ORPHAN).waitFor();
        expect(await smallTargets(page)).toEqual([]);
        expect(await accessibilityFaults(page)).toEqual([]);
        expect(await layoutShift(page)).toBeLessThan(0.1);
      },
    );
  },
);

interface Visit extends AsyncDisposable {
  readonly news: RunningNews;
  readonly context: BrowserContext;
  readonly page: Page;
  readonly errors: readonly string[];
}

/** Opens the page of a server of its own. */
async function open(options: BrowserContextOptions = {}): Promise<Visit> {
  const news = await startNews({ port: 0, delays: 'measured' });
  const context = await contextIn(browser as Browser, options);
  const page = await context.newPage();
  const errors: string[] = [];
  page.on('pageerror', (error) => errors.push(error.message));
  await page.goto(news.url);
  await page.locator(READY).waitFor();
  const close = async (): Promise<void> => {
    await context.close();
    await news.close();
  };
  return { news, context, page, errors, [Symbol.asyncDispose]: close };
}

async function choose(page: Page, site: string): Promise<void> {
  await page.getByRole('radio', { name: site }).check({ force: true });
}

async function postComment(page: Page, text: string): Promise<void> {
  await page.getByLabel('Your comment').fill(text);
  await page.getByRole('button', { name: 'Post' }).click();
}

/** The durations of the three steps. */
async function readStepMs(page: Page): Promise<number[]> {
  const texts = await page.locator('#steps .figure').allTextContents();
  return texts.map((text) => Number(/^([\d.]+) ms$/.exec(text)?.[1]));
}

/** Records each verdict on a thread from now on. */
async function recordVerdicts(
  page: Page,
  thread: string,
): Promise<() => Promise<readonly string[]>> {
  const recorded = await page.locator(`${thread} .verdict`).evaluateHandle((element) => {
    const texts: string[] = [];
    new MutationObserver(() => texts.push(element.textContent)).observe(element, {
      subtree: true,
      childList: true,
    });
    return texts;
  });
  return () => recorded.evaluate((texts) => [...texts]);
}
