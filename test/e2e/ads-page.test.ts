/** The pages of the speculation demos in a real browser, against the real demo servers. */
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startAdPage } from '../../demo/ad-server/page-server.ts';
import type { RunningPage } from '../../demo/shared/speculation/cli.ts';
import { startTimelinePage } from '../../demo/twissandra/page-server.ts';
import { accessibilityFaults } from '../support/axe.ts';
import { advanceTo, advanceToNextRetry, withFakeTime } from './fake-time.ts';
import { contextIn, openBrowser } from './support/browser.ts';

const { browser, reason } = await openBrowser();
const subject = reason === undefined ? 'ads page' : `ads page (skipped: ${reason})`;
const OPTIONS = { scale: 0.002, seed: 1, wan: 'paper', port: 0 } as const;

describe.skipIf(browser === undefined)(subject, () => {
  let ads: RunningPage;

  beforeAll(async () => {
    ads = await startAdPage(OPTIONS);
  });

  afterAll(async () => {
    await ads.close();
    await (browser as Browser).close();
  });

  test('opened → fetches by itself; both ways deliver the same ads with text and media', async () => {
    await using visit = await open(ads.url);
    const { page } = visit;
    expect(await page.textContent('#asked')).toBe('Ads for user 7, beside Frankfurt');
    const steps = await readNames(page, 'correctable');
    expect(steps).toEqual(['Early answer', 'Confirmed', 'Delivered']);
    expect(await readNames(page, 'baseline')).toEqual(['Confirmed', 'Delivered']);
    const texts = await page.locator('#correctable-items li').allTextContents();
    expect(texts.length).toBeGreaterThan(0);
    expect(texts).toEqual(await page.locator('#baseline-items li').allTextContents());
    expect(texts[0]).toMatch(/^.+: made to last, from €[\d,.]+$/);
    expect(await pictures(page)).toBe(texts.length);
    expect(await page.locator('#correctable-timeline svg').count()).toBe(1);
    expect(visit.errors).toEqual([]);
  });

  test('a browser that reports a language which is none → delivers in the language that is meant', async () => {
    await using visit = await open(ads.url, { locale: 'en-US@posix' });
    expect(await visit.page.evaluate(() => navigator.language)).toBe('en-US@posix');
    expect(await visit.page.locator('#correctable-items li').first().textContent()).toMatch(
      /from €[\d,.]+$/,
    );
    expect(visit.errors).toEqual([]);
  });

  test('a request that fails → nothing of the one before is shown, and the page names the user without ads', async () => {
    const other = await startAdPage(OPTIONS);
    await using visit = await open(other.url, {}, withFakeTime);
    const { page } = visit;
    await other.close();
    await page.fill('#user', '8');
    await page.click('#fetch');
    await advanceTo(page, 'failed');
    expect(await page.textContent('#asked')).toBe(
      'No ads for user 8, beside Frankfurt: the request has failed',
    );
    expect(await page.locator('.items li, .steps li, .timeline svg').count()).toBe(0);
    expect(await accessibilityFaults(page)).toEqual([]);
  });

  test('references change meanwhile → a misspeculation: prefetch cancelled, the final ads delivered', async () => {
    await using visit = await open(ads.url);
    const { page } = visit;
    await standBesideLeader(page);
    await page.fill('#user', '11');
    await page.focus('#change');
    await page.keyboard.press('Enter');
    await inPhase(page, 'misspeculated');

    const steps = await page.locator('#correctable-steps li').allTextContents();
    expect(steps.map((step) => step.replace(/[\d.]+ ms$/, ''))).toEqual([
      expect.stringMatching(/^Early answer\d+ references to ads: fetch early$/),
      'Changedthe references change',
      'Confirmedother references: corrected',
      expect.stringMatching(/^Canceledearly work.*; fetched again$/),
      expect.stringMatching(/^Deliveredto user 11: \d+ ads$/),
    ]);
    expect(await page.locator('#correctable-items li').allTextContents()).toEqual(
      await page.locator('#baseline-items li').allTextContents(),
    );
    expect(await page.textContent('[data-sum="correctable-in-vain"]')).toBe('1');
    expect(visit.errors).toEqual([]);
  });

  test('a user that does not exist → nothing is asked', async () => {
    await using visit = await open(ads.url);
    const { page } = visit;
    await page.fill('#user', '-1');
    await page.click('#fetch');
    expect(await page.locator('#user:invalid').count()).toBe(1);
    expect(await page.textContent('#asked')).toContain('user 7');
    expect(await page.textContent('[data-sum="correctable-requests"]')).toBe('1');
  });

  test('the backend goes away → the page explains what to do; it comes back → delivers again', async () => {
    const other = await startAdPage(OPTIONS);
    await using visit = await open(other.url, {}, withFakeTime);
    const { page } = visit;
    await other.close();
    await page.getByText('No connection: trying again…').waitFor();
    await page.click('#fetch');
    await advanceTo(page, 'failed');
    expect(await page.getByRole('alert').textContent()).toContain('npm run demo');

    const again = await startAdPage({ ...OPTIONS, port: Number(new URL(other.url).port) });
    await advanceToNextRetry(page);
    await inPhase(page, 'ready');
    await page.click('#fetch');
    await inPhase(page, 'delivered');
    expect(await page.getByRole('alert').count()).toBe(0);
    await again.close();
  });

  test('a small phone → no sideways scrolling, the lane with speculation first', async () => {
    await using visit = await open(ads.url, { viewport: { width: 320, height: 640 } });
    const { page } = visit;
    const width = await page.evaluate(() => document.documentElement.scrollWidth);
    expect(width).toBeLessThanOrEqual(320);
    const top = async (id: string): Promise<number> =>
      (await page.locator(id).boundingBox())?.y ?? 0;
    expect(await top('#correctable-steps')).toBeLessThan(await top('#baseline-steps'));
  });

  test.each(['light', 'dark'] as const)(
    'in the %s → nothing in it keeps people out',
    async (colorScheme) => {
      await using visit = await open(ads.url, { colorScheme });
      expect(await accessibilityFaults(visit.page)).toEqual([]);
    },
  );

  test('timelines: a tweet posted meanwhile → a misspeculation, and the tweet is there', async () => {
    const timelines = await startTimelinePage({ ...OPTIONS, scale: 0.01 });
    await using visit = await open(timelines.url);
    const { page } = visit;
    expect(await accessibilityFaults(page)).toEqual([]);
    await standBesideLeader(page);
    await page.click('#fetch');
    await inPhase(page, 'delivered');
    const before = await page.locator('#correctable-items li').count();
    await page.click('#change');
    await inPhase(page, 'misspeculated');
    expect(await page.locator('#correctable-items li').count()).toBe(before + 1);
    expect(await page.locator('#baseline-items li').count()).toBe(before + 1);
    expect(visit.errors).toEqual([]);
    await timelines.close();
  });

  test('timelines: a site that does not answer → the page reports it in time, with the fix; it answers → ready', async () => {
    const timelines = await startTimelinePage({ ...OPTIONS, scale: 0.01 });
    await using visit = await open(timelines.url, {}, withFakeTime);
    const { page } = visit;
    await timelines.close();
    await page.selectOption('#site', 'ireland');
    await inPhase(page, 'connecting');
    await advanceTo(page, 'failed');
    const alert = await page.getByRole('alert').textContent();
    expect(alert).toContain('Site ireland has not answered for 6 seconds');
    expect(alert).toContain('npm run demo');
    expect(await page.getAttribute('#fetch', 'aria-disabled')).toBe('false');
    expect(await page.textContent('#asked')).toBe('Tweets for user 7, beside Frankfurt');

    const again = await startTimelinePage({
      ...OPTIONS,
      scale: 0.01,
      port: Number(new URL(timelines.url).port),
    });
    await advanceToNextRetry(page);
    await inPhase(page, 'ready');
    expect(await page.getByRole('alert').count()).toBe(0);
    await page.click('#fetch');
    await inPhase(page, 'delivered');
    expect(await page.textContent('#asked')).toBe('Tweets for user 7, beside Ireland');
    await again.close();
  });

  /**
   * Opens a page in a context of its own, until its first request is delivered; collects what goes
   * wrong in it.
   */
  async function open(
    url: string,
    options: BrowserContextOptions = {},
    prepare?: (page: Page) => Promise<void>,
  ): Promise<Visit> {
    const context = await contextIn(browser as Browser, { reducedMotion: 'reduce', ...options });
    const page = await context.newPage();
    await prepare?.(page);
    const errors: string[] = [];
    page.on('pageerror', (error) => errors.push(error.message));
    await page.goto(url);
    await inPhase(page, 'delivered');
    return { page, errors, [Symbol.asyncDispose]: () => context.close() };
  }
});

interface Visit extends AsyncDisposable {
  readonly page: Page;
  readonly errors: readonly string[];
}

async function inPhase(page: Page, phase: string): Promise<void> {
  await page.locator(`#status[data-phase="${phase}"]`).waitFor({ timeout: 60_000 });
}

/**
 * Beside the site that orders the operations, where the final references would come before any
 * change.
 */
async function standBesideLeader(page: Page): Promise<void> {
  await page.selectOption('#site', 'ireland');
  await inPhase(page, 'ready');
}

async function readNames(page: Page, way: string): Promise<string[]> {
  return await page.locator(`#${way}-steps .name`).allTextContents();
}

/** How many pictures of the lane with speculation have been drawn. */
async function pictures(page: Page): Promise<number> {
  const images = page.locator('#correctable-items img');
  return await images.evaluateAll(async (all) => {
    await Promise.all(all.map((image) => (image as HTMLImageElement).decode()));
    return all.filter((image) => (image as HTMLImageElement).naturalWidth > 0).length;
  });
}
