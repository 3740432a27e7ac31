/** Pages wait for seconds before they say that something is wrong: by a time of their own, that a test can let go by. */
import type { Page } from 'playwright-core';

const STEP_MS = 500;

/** Gives a page, before it is loaded, a time of its own, which goes as the world's does until it is hurried. */
export async function withOwnTime(page: Page): Promise<void> {
  await page.clock.install();
}

/** Lets the own time of a page go by until it is in this phase. */
export async function hurriedTo(page: Page, phase: string): Promise<void> {
  const status = page.locator('#status');
  while ((await status.getAttribute('data-phase')) !== phase) await page.clock.fastForward(STEP_MS);
}
