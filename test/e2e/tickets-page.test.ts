/** The ticket shop's page in a real browser, against the real demo server. */
import { expect, test } from 'vitest';
import { startShop } from '../../demo/tickets/server.ts';
import { advanceTo, withFakeTime } from './fake-time.ts';
import { counts, inPhase } from './tickets-page-visit.ts';
import { describeShop } from './tickets-shop.ts';

await describeShop('tickets page', (open) => {
  test('a ticket bought by hand → both views, the answer, and one ticket less', async () => {
    await using visited = await open('?tickets=30&autostart=0');
    const { page } = visited;
    await inPhase(page, 'ready');
    expect(await page.textContent('#left')).toBe('30');

    await page.selectOption('#site', 'virginia');
    await page.click('#buy');
    await page
      .locator('#steps')
      .getByText('Confirmed')
      .locator('xpath=following-sibling::*[1]')
      .getByText('ticket #')
      .waitFor();

    const [preliminary, reported, final] = await page.locator('#steps li').allTextContents();
    expect(preliminary).toMatch(/^Early answerticket #\d+[\d.]+ ms$/);
    expect(reported).toMatch(/^You hearyes, early[\d.]+ ms$/);
    expect(final).toMatch(/^Confirmedticket #\d+[\d.]+ ms$/);
    expect(await page.textContent('#left')).toBe('29');
    expect(await counts(page)).toEqual({
      confirmed: 1,
      confirmedEarly: 1,
      revoked: 0,
      oversold: 0,
      duplicates: 0,
    });
    expect(await page.locator('#purchases tr').count()).toBe(1);
    expect(visited.errors).toEqual([]);
  });

  test('a whole sale → sold out, nothing oversold, nothing twice, the last tickets on the final view', async () => {
    await using visited = await open('?tickets=60&threshold=20&pace=5');
    const { page } = visited;
    await inPhase(page, 'sold-out');

    const { confirmed, confirmedEarly, revoked, oversold, duplicates } = await counts(page);
    expect({ sold: confirmed - revoked, oversold, duplicates }).toEqual({
      sold: 60,
      oversold: 0,
      duplicates: 0,
    });
    expect(confirmedEarly).toBeGreaterThan(0);
    expect(confirmedEarly).toBeLessThan(60);
    expect(await page.textContent('#left')).toBe('0');
    const waits = [confirmedEarly, confirmedEarly, confirmed - confirmedEarly, 60].map(String);
    await expect
      .poll(() => page.locator('#legend td:first-of-type').allTextContents())
      .toEqual(waits);
    expect(visited.errors).toEqual([]);
  });

  test('stop by keyboard, then a new sale → a fresh stock', async () => {
    await using visited = await open('?tickets=500&pace=100');
    const { page } = visited;
    await inPhase(page, 'selling');
    await page.locator('#purchases tr').first().waitFor();
    await page.focus('#stop');
    await page.keyboard.press('Enter');
    await inPhase(page, 'stopped');
    const { confirmed } = await counts(page);
    expect(confirmed).toBeGreaterThan(0);
    expect(await page.textContent('#left')).toBe(String(500 - confirmed));

    await page.focus('#start');
    await page.keyboard.press('Enter');
    await inPhase(page, 'selling');
    await page.click('#stop');
    await inPhase(page, 'stopped');
    expect(visited.errors).toEqual([]);
  });

  test('an invalid address → the page names the parameter and its range', async () => {
    await using visited = await open('?tickets=many');
    await inPhase(visited.page, 'failed');
    expect(await visited.page.textContent('#failure-detail')).toContain(
      'tickets: "many" is not an integer from 1',
    );
  });

  test('the backend goes away in the middle of a sale → the page explains how to start it again, and then sells', async () => {
    const other = await startShop({ port: 0 });
    await using visited = await open(
      '?tickets=500&pace=50',
      {},
      { at: other.url, prepare: withFakeTime },
    );
    const { page } = visited;
    await page.locator('#purchases tr').nth(10).waitFor();
    await other.close();
    await advanceTo(page, 'failed');
    expect(await page.getByRole('alert').textContent()).toContain('npm run demo');

    const again = await startShop({ port: Number(new URL(other.url).port) });
    await page.click('#start');
    await inPhase(page, 'selling');
    await page.locator('#purchases tr').nth(10).waitFor();
    expect(await page.getByRole('alert').count()).toBe(0);
    await again.close();
  });
});
