/** The pages of the speculation demos in a real browser, against the real demo servers. */
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startAdPage } from '../../demo/ad-server/page-server.ts';
import type { RunningPage } from '../../demo/shared/chase/cli.ts';
import { startTimelinePage } from '../../demo/twissandra/page-server.ts';
import { launchChromium } from '../support/chromium.ts';

const { browser, reason } = await launchChromium();
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

  test('fetch → both ways deliver the same ads with text and media, speculation sooner', async () => {
    await using visit = await open(ads.url);
    const { page } = visit;
    await page.click('#fetch');
    await inPhase(page, 'delivered');

    const steps = await namesOf(page, 'correctable');
    expect(steps).toEqual(['Preliminary', 'Final', 'Delivered']);
    expect(await namesOf(page, 'baseline')).toEqual(['Final', 'Delivered']);
    const texts = await page.locator('#correctable-items li').allTextContents();
    expect(texts.length).toBeGreaterThan(0);
    expect(texts).toEqual(await page.locator('#baseline-items li').allTextContents());
    expect(texts[0]).toMatch(/^.+: made to last, from €[\d,.]+$/);
    expect(await pictures(page)).toBe(texts.length);
    expect(await page.locator('#correctable-timeline svg').count()).toBe(1);
    expect(visit.errors).toEqual([]);
  });

  test('many users → the sums count them, and speculation is faster', async () => {
    await using visit = await open(ads.url);
    const { page } = visit;
    await page.click('#many');
    await page.locator('[data-sum="correctable-requests"]').getByText('50').waitFor();
    const median = async (way: string): Promise<number> =>
      Number.parseFloat((await page.locator(`[data-sum="${way}-median"]`).textContent()) ?? '');
    expect(await median('correctable')).toBeLessThan(await median('baseline'));
    expect(visit.errors).toEqual([]);
  });

  test('references change meanwhile → a misspeculation: prefetch cancelled, the final ads delivered', async () => {
    await using visit = await open(ads.url);
    const { page } = visit;
    await standFarAway(page);
    await page.fill('#user', '11');
    await page.focus('#change');
    await page.keyboard.press('Enter');
    await inPhase(page, 'misspeculated');

    const steps = await page.locator('#correctable-steps li').allTextContents();
    expect(steps.map((step) => step.replace(/[\d.]+ ms$/, ''))).toEqual([
      expect.stringMatching(/^Preliminary\d+ references to ads: prefetch$/),
      'Thrown inthe references change',
      'Finalother references: misspeculation',
      expect.stringMatching(/^Cancelledprefetch.*; fetched again$/),
      expect.stringMatching(/^Delivered\d+ ads$/),
    ]);
    expect(await page.locator('#correctable-items li').allTextContents()).toEqual(
      await page.locator('#baseline-items li').allTextContents(),
    );
    expect(await page.textContent('[data-sum="correctable-in-vain"]')).toBe('1');
    expect(visit.errors).toEqual([]);
  });

  test('a site farther away → connects there and delivers', async () => {
    await using visit = await open(ads.url);
    const { page } = visit;
    const socket = page.waitForEvent('websocket');
    await page.selectOption('#site', 'vrg');
    expect(new URL((await socket).url()).pathname).toBe('/vrg');
    await page.click('#fetch');
    await inPhase(page, 'delivered');
    expect(visit.errors).toEqual([]);
  });

  test('a user that does not exist → nothing is asked', async () => {
    await using visit = await open(ads.url);
    const { page } = visit;
    await page.fill('#user', '-1');
    await page.click('#fetch');
    expect(await page.locator('#user:invalid').count()).toBe(1);
    expect(await page.getAttribute('#status', 'data-phase')).toBe('ready');
  });

  test('the backend goes away → says what to do; it comes back → delivers again', async () => {
    const other = await startAdPage(OPTIONS);
    await using visit = await open(other.url);
    const { page } = visit;
    await page.click('#fetch');
    await inPhase(page, 'delivered');
    await other.close();
    await page.getByText('No connection: trying again…').waitFor();
    await page.click('#fetch');
    await inPhase(page, 'failed');
    expect(await page.getByRole('alert').textContent()).toContain('npm run demo');

    const again = await startAdPage({ ...OPTIONS, port: Number(new URL(other.url).port) });
    await page.getByText('Failed', { exact: true }).waitFor();
    await page.click('#fetch');
    await inPhase(page, 'delivered');
    expect(await page.getByRole('alert').count()).toBe(0);
    await again.close();
  });

  test('a phone → no sideways scrolling, the lane with speculation first', async () => {
    await using visit = await open(ads.url, { width: 360, height: 740 });
    const { page } = visit;
    await page.click('#fetch');
    await inPhase(page, 'delivered');
    const width = await page.evaluate(() => document.documentElement.scrollWidth);
    expect(width).toBeLessThanOrEqual(360);
    const top = async (id: string): Promise<number> => (await page.locator(id).boundingBox())?.y ?? 0;
    expect(await top('#correctable-steps')).toBeLessThan(await top('#baseline-steps'));
  });

  test('timelines: a tweet posted meanwhile → a misspeculation, and the tweet is there', async () => {
    const timelines = await startTimelinePage({ ...OPTIONS, scale: 0.01 });
    await using visit = await open(timelines.url);
    const { page } = visit;
    await standFarAway(page);
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

  /** Opens a page in a context of its own, once it is ready; collects what goes wrong in it. */
  async function open(url: string, viewport = { width: 1280, height: 900 }): Promise<Visit> {
    const context = await (browser as Browser).newContext({ locale: 'en-GB', viewport, reducedMotion: 'reduce' });
    const page = await context.newPage();
    const errors: string[] = [];
    page.on('pageerror', (error) => errors.push(error.message));
    await page.goto(url);
    await inPhase(page, 'ready');
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

/** Where the final references take long, so that a change is sure to come before them, however busy the machine. */
async function standFarAway(page: Page): Promise<void> {
  await page.selectOption('#site', 'vrg');
  await inPhase(page, 'ready');
}

async function namesOf(page: Page, way: string): Promise<string[]> {
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
