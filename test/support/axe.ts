/** Asks axe-core what in a page keeps people out. */
import axe from 'axe-core';
import type { Page } from 'playwright-core';

/** Its faults, each with the element; none in a page that everybody can use, as far as a program can tell. */
export async function accessibilityFaults(page: Page): Promise<string[]> {
  await page.evaluate(axe.source);
  const { violations } = await page.evaluate(() => (globalThis as unknown as { axe: typeof axe }).axe.run());
  return violations.flatMap(({ id, nodes }) => nodes.map(({ html }) => `${id}: ${html}`));
}
