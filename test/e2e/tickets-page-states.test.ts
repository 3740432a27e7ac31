/**
 * Every state of the ticket shop that a person can bring about: revoked, cut off, too busy,
 * averaged.
 */
import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { accessibilityFaults } from '../support/axe.ts';
import { counts, eventOf, inPhase } from './tickets-page-visit.ts';
import { describeShop } from './tickets-shop.ts';

await describeShop('tickets page states', (open) => {
  test('no threshold, six retailers at three sites without pauses → customers are revoked, nothing is oversold', async () => {
    // Whether two retailers meet at the last tickets is chance: on a busy machine it takes more
    // than one sale.
    for (let sale = 1; ; sale++) {
      await using visited = await open(
        '?tickets=20&threshold=0&pace=0&retailers=frankfurt,ireland,virginia,frankfurt,ireland,virginia',
      );
      const { page } = visited;
      await inPhase(page, 'sold-out');
      const { confirmed, revoked, oversold, duplicates } = await counts(page);
      expect({ sold: confirmed - revoked, oversold, duplicates }).toEqual({
        sold: 20,
        oversold: 0,
        duplicates: 0,
      });
      expect(visited.errors).toEqual([]);
      if (revoked === 0 && sale < 5) continue;
      await notice(page, 'revoked').waitFor();
      expect(await page.locator('#purchases .bad').first().textContent()).toBe('taken back');
      return;
    }
  });

  test('threshold and pace moved by keyboard during a sale → they count from the next customer on', async () => {
    await using visited = await open(
      '?tickets=200&threshold=0&pace=150&compare=0&retailers=frankfurt',
    );
    const { page } = visited;
    await page.locator('#purchases .early').first().waitFor();
    await page.getByText('Settings').click();
    await page.getByRole('slider', { name: 'Wait for the confirmed answer for the last' }).focus();
    await page.keyboard.press('End');
    await page.locator('#threshold-value', { hasText: '100 tickets' }).waitFor();
    await page.getByRole('slider', { name: 'Pause between two customers' }).focus();
    await page.keyboard.press('Home');
    await inPhase(page, 'sold-out');
    const { confirmed, confirmedEarly } = await counts(page);
    expect({ confirmed, confirmedEarly }).toEqual({ confirmed: 200, confirmedEarly: 100 });
    expect(await page.textContent('#below-threshold')).toContain('For the last 100');
  });

  test('a site cut off during a sale → the others sell on; plugged in → its customer is served once', async () => {
    await using visited = await open('?tickets=120&pace=10&compare=0&retailers=frankfurt,virginia');
    const { page } = visited;
    await page.locator('#purchases tr').nth(4).waitFor();
    await page.getByRole('button', { name: 'Cut off the cable to Virginia' }).click();
    await notice(page, 'offline').getByText('No connection to Virginia').waitFor();
    await page.getByText('Selling, without Virginia').waitFor();
    const soldAtFrk = page.locator('#purchases tr', { hasText: 'frankfurt' });
    const before = (await counts(page)).confirmed;
    await expect.poll(async () => (await counts(page)).confirmed).toBeGreaterThan(before + 10);
    expect(await soldAtFrk.count()).toBeGreaterThan(10);
    expect(await page.getByRole('alert').count()).toBe(0);
    await page
      .getByText(/^Sold out; \d customers? in Virginia waits? for the connection$/)
      .waitFor();

    await page.getByRole('button', { name: 'Plug in the cable to Virginia' }).click();
    await inPhase(page, 'sold-out');
    await notice(page, 'offline').waitFor({ state: 'detached' });
    const { confirmed, revoked, oversold, duplicates } = await counts(page);
    expect({ sold: confirmed - revoked, oversold, duplicates }).toEqual({
      sold: 120,
      oversold: 0,
      duplicates: 0,
    });
    expect(await page.textContent('#left')).toBe('0');
    expect(visited.errors).toEqual([]);
  });

  test('all sites cut off → the sale waits instead of failing, and goes on when one is back', async () => {
    await using visited = await open('?tickets=60&pace=10&compare=0&retailers=frankfurt');
    const { page } = visited;
    await page.locator('#purchases tr').nth(4).waitFor();
    for (const cable of await page.locator('[data-cable]').all()) await cable.click();
    await notice(page, 'offline').getByText('Ireland, Frankfurt, Virginia').waitFor();
    await page.getByRole('button', { name: 'Plug in the cable to Frankfurt' }).click();
    await inPhase(page, 'sold-out');
    expect((await counts(page)).confirmed).toBe(60);
  });

  test.each([
    ['a double click', 'clicked', (page: Page) => page.dblclick('#start')],
    ['a key held down', 'held', holdEnter],
  ])('%s on “Start selling” → one sale, which is not thrown away', async (_, event, press) => {
    await using visited = await open(`?tickets=50&pace=20&compare=0&autostart=0&event=${event}`);
    const { page } = visited;
    await inPhase(page, 'ready');
    await press(page);
    await inPhase(page, 'sold-out');
    expect(eventOf(page)).toBe(event);
    expect(visited.errors).toEqual([]);
  });

  test.each(['light', 'dark'] as const)(
    'a small phone in the %s → nothing is wider than the screen, or keeps people out',
    async (colorScheme) => {
      const phone = {
        viewport: { width: 320, height: 640 },
        isMobile: true,
        hasTouch: true,
        colorScheme,
      };
      await using visited = await open('?tickets=60&pace=5', phone);
      await inPhase(visited.page, 'sold-out');
      expect(
        await visited.page.evaluate(() => document.documentElement.scrollWidth),
      ).toBeLessThanOrEqual(320);
      expect(await accessibilityFaults(visited.page)).toEqual([]);
      const ink = await visited.page.evaluate(() => getComputedStyle(document.body).color);
      expect(ink).toBe(colorScheme === 'dark' ? 'rgb(230, 232, 234)' : 'rgb(28, 33, 38)');
    },
  );
});

/** Presses Enter for too long: the second press is the keyboard's own. */
async function holdEnter(page: Page): Promise<void> {
  await page.focus('#start');
  await page.keyboard.down('Enter');
  await page.keyboard.down('Enter');
  await page.keyboard.up('Enter');
}

function notice(page: Page, about: string): ReturnType<Page['locator']> {
  return page.locator(`#notices .${about}`);
}
