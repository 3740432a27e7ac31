/** Runs programs on the page `play`, also several at once, and compares what they print. */
import type { Page } from 'playwright-core';

const TIMEOUT_MS = 10_000;

const PROGRAMS = [
  {
    code: `await new Promise((resolve) => setTimeout(resolve, 50)); print(1);`,
    prints: '1',
    presses: 3,
  },
  // The next program runs although this one never ends.
  { code: `print('begun'); await new Promise(() => {});`, prints: 'begun', presses: 1 },
  { code: `console.log('a', { b: 1 });`, prints: 'a { b: 1 }', presses: 1 },
] as const;

export async function findPlayFaults(page: Page): Promise<string[]> {
  const faults: string[] = [];
  const output = page.locator('.play-log');
  for (const { code, prints, presses } of PROGRAMS) {
    await page.locator('#play-code').fill(code);
    for (let press = 0; press < presses; press += 1)
      await page.locator('#play-code').press('Control+Enter');
    const found = output.filter({ hasText: prints });
    await found.waitFor({ timeout: TIMEOUT_MS }).catch(() => {});
    // An output that comes twice would be there by now.
    await page.waitForTimeout(100);
    const printed = await output.innerText();
    if (printed !== prints)
      faults.push(`${JSON.stringify(code)} printed ${JSON.stringify(printed)}`);
  }
  return faults;
}
