/**
 * Pages wait for seconds before they say that something is wrong: by a time of their own, that a
 * test can let go by.
 */
import type { Page } from 'playwright-core';

const STEP_MS = 500;

/**
 * Gives a page, before it is loaded, a time of its own, which goes as the world's does until it is
 * hurried.
 */
export async function withFakeTime(page: Page): Promise<void> {
  await page.clock.install();
}

/** Lets the own time of a page go by until it is in this phase. */
export async function advanceTo(page: Page, phase: string): Promise<void> {
  await advanceUntil(page, `#status[data-phase="${phase}"]`);
}

/** Lets the own time of a page go by until it shows this. */
export async function advanceUntil(page: Page, selector: string): Promise<void> {
  const shown = page.locator(selector);
  while ((await shown.count()) === 0) await page.clock.fastForward(STEP_MS);
}

/** More than a page waits before it tries again to connect. */
const BACKOFF_MS = 6_000;

/**
 * Lets a page that has lost its server try again now. Until it is connected, its time goes as the
 * world's does.
 */
export async function advanceToNextRetry(page: Page): Promise<void> {
  await page.clock.fastForward(BACKOFF_MS);
}
