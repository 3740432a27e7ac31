/** Checks with axe-core whether a page is accessible. */
import axe from 'axe-core';
import type { Page } from 'playwright-core';

/** Returns the accessibility faults that axe-core finds, each with its element. */
export async function accessibilityFaults(page: Page): Promise<string[]> {
  await page.evaluate(axe.source);
  const { violations } = await page.evaluate(() =>
    (globalThis as unknown as { axe: typeof axe }).axe.run(),
  );
  return violations.flatMap(({ id, nodes }) => nodes.map(({ html }) => `${id}: ${html}`));
}
