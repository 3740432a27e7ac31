/** `correctables/tanstack-query` with React in a real browser, in StrictMode. */
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { openBrowser } from './support/browser.ts';
import { bundlePage, openPage } from './support/page-bundle.ts';

const { browser, reason } = await openBrowser();
const subject = reason === undefined ? 'TanStack Query' : `TanStack Query (skipped: ${reason})`;

describe.skipIf(browser === undefined)(subject, () => {
  let script: string;
  let context: BrowserContext;
  let page: Page;
  let errors: string[];

  beforeAll(async () => {
    script = await bundlePage('tanstack-query.page.ts');
  });

  beforeEach(async () => {
    context = await (browser as Browser).newContext();
    ({ page, errors } = await openPage(context, script));
    await page.locator('#alpha').waitFor();
    return () => context.close();
  });

  afterAll(() => (browser as Browser).close());

  const known = (name: 'submitted' | 'lines'): Promise<string[]> =>
    page.evaluate((key) => (globalThis as unknown as Record<string, string[]>)[key] ?? [], name);
  const shows = (text: string): Promise<void> =>
    page.locator('#stock', { hasText: text }).waitFor();

  test('in StrictMode → one read; both views are drawn, and which of them is final', async () => {
    await page.click('#alpha');
    await shows('alpha 1 strong');
    await expect
      .poll(() => known('lines'))
      .toEqual(['alpha loading …', 'alpha 11 weak …', 'alpha 1 strong']);
    expect(await known('submitted')).toEqual(['stock:alpha']);
    expect(errors).toEqual([]);
  });

  test('fast navigation there and back → no view of the other book, and each read is asked for where it is shown', async () => {
    await page.evaluate(() => {
      for (const id of ['alpha', 'beta', 'alpha', 'beta'])
        document.querySelector<HTMLElement>(`#${id}`)?.click();
    });
    await shows('beta 2 strong');
    expect(
      (await known('lines')).filter((line) => line.includes('alpha') && line.includes(' 2 ')),
    ).toEqual([]);
    expect((await known('submitted')).filter((key) => key === 'stock:beta')).toHaveLength(1);
    expect(errors).toEqual([]);
  });

  test('a component that comes back → shows what is known at once, and reads again', async () => {
    await page.click('#alpha');
    await shows('alpha 1 strong');
    await page.click('#none');
    await page.click('#alpha');
    await shows('alpha 1 strong');
    const lines = await known('lines');
    expect(lines.slice(lines.lastIndexOf('alpha 1 strong …') - 1)).not.toContain('alpha loading …');
    expect(await known('submitted')).toEqual(['stock:alpha', 'stock:alpha']);
  });

  test('useSuspenseQuery → waits for the final view', async () => {
    await page.click('#suspend');
    await page.locator('p', { hasText: 'waiting' }).waitFor();
    await page.locator('#suspended').waitFor();
    expect(await page.textContent('#suspended')).toBe('3 strong');
  });
});
