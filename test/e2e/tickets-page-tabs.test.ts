/** Several tabs of the ticket shop that sell of one stock, and follow each other to the next. */
import { expect, test } from 'vitest';
import { counts, inPhase } from './tickets-page-visit.ts';
import { describeShop } from './tickets-shop.ts';

await describeShop('tickets page tabs', (open) => {
  test('two tabs at two sites on one event → one stock, and each sees what the other sells', async () => {
    await using visited = await open(
      '?event=shared-concert&tickets=80&pace=10&compare=0&autostart=0&retailers=frankfurt',
    );
    const { page, context } = visited;
    await inPhase(page, 'ready');
    const [other] = await Promise.all([
      context.waitForEvent('page'),
      page
        .locator('.site', { hasText: 'Virginia' })
        .getByRole('link', { name: 'another tab' })
        .click(),
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

  test('a tab that sells nothing → shows sold out when another tab has sold the last ticket', async () => {
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
