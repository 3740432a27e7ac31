/** Several tabs of the ticket shop that sell of one stock, and follow each other to the next. */
import { expect, test } from 'vitest';
import { counts, eventOf, inPhase } from './tickets-page-visit.ts';
import { describeShop } from './tickets-shop.ts';

await describeShop('tickets page tabs', (open) => {
  test('two tabs at two sites on one event → one stock, and each sees what the other sells', async () => {
    await using visited = await open('?event=shared-concert&tickets=80&pace=10&compare=0&autostart=0&retailers=frk');
    const { page, context } = visited;
    await inPhase(page, 'ready');
    const [other] = await Promise.all([
      context.waitForEvent('page'),
      page.locator('.site', { hasText: 'vrg' }).getByRole('link', { name: 'another tab' }).click(),
    ]);
    expect(new URL(other.url()).searchParams.get('event')).toBe('shared-concert');
    await page.click('#start');
    await Promise.all([inPhase(page, 'sold-out'), inPhase(other, 'sold-out')]);
    const [here, there] = [await counts(page), await counts(other)];
    const sold = [here, there].map(({ confirmed, revoked }) => confirmed - revoked);
    expect((sold[0] as number) + (sold[1] as number)).toBe(80);
    expect(Math.min(...sold)).toBeGreaterThan(0);
    for (const tab of [page, other]) {
      await tab.getByText('taken in other tabs').waitFor();
      expect(await tab.textContent('#tickets')).toBe('80');
    }
    expect(visited.errors).toEqual([]);
  });

  test('two new sales in one tab → the other tab of the event is invited to the latest, and joins it', async () => {
    await using visited = await open('?event=first&tickets=30&pace=0&compare=0');
    const { page, context } = visited;
    await inPhase(page, 'sold-out');
    const other = await context.newPage();
    await other.goto(new URL('?event=first&autostart=0&retailers=irl', page.url()).href);
    await inPhase(other, 'sold-out');
    for (let sale = 2; sale <= 3; sale += 1) {
      const former = eventOf(page);
      await page.click('#start');
      await expect.poll(() => eventOf(page)).not.toBe(former);
      await inPhase(page, 'sold-out');
    }
    const invitation = other.getByRole('link', { name: 'Join it' });
    await expect.poll(() => invitation.getAttribute('href')).toContain(`event=${eventOf(page)}`);
    await invitation.click();
    await other.waitForURL((url) => url.searchParams.get('event') !== 'first');
    const joined = new URL(other.url()).searchParams;
    expect(joined.get('event')).toBe(eventOf(page));
    expect(joined.get('retailers')).toBe('irl');
    await Promise.all([inPhase(page, 'sold-out'), inPhase(other, 'sold-out')]);
    expect(visited.errors).toEqual([]);
  });

  test('a tab that sells nothing → says sold out when another tab has sold the last ticket', async () => {
    await using visited = await open('?event=watched&tickets=30&pace=0&compare=0&autostart=0');
    await inPhase(visited.page, 'ready');
    await using other = await open('?event=watched&tickets=99&pace=0&compare=0');
    await inPhase(other.page, 'sold-out');
    await inPhase(visited.page, 'sold-out');
    expect(await visited.page.textContent('#left')).toBe('0');
    expect(await other.page.textContent('#tickets')).toBe('30');
    expect((await counts(visited.page)).confirmed).toBe(0);
  });
});
