/** The browser of this run, and places in it to open pages. */
import {
  chromium,
  type Browser,
  type BrowserContext,
  type BrowserContextOptions,
} from 'playwright-core';
import { inject } from 'vitest';
import { launchChromium, type ChromiumLaunch } from '../../../bench/harness/chromium.ts';

/**
 * Opens the browser. Close it at the end of the test file: pages of other files in the same browser
 * stay open.
 */
export async function openBrowser(): Promise<ChromiumLaunch> {
  const endpoint = inject('chromium');
  return endpoint === undefined
    ? await launchChromium()
    : { browser: await chromium.connect(endpoint) };
}

/**
 * The frames of a slow screen: every one costs as much as all that a page has done since the last.
 */
const FRAME_MS = 100;

/**
 * A place for pages of their own storage. Of what changes often, they draw no more than a slow
 * screen shows.
 */
export async function contextIn(
  browser: Browser,
  options: BrowserContextOptions = {},
): Promise<BrowserContext> {
  const context = await browser.newContext({ locale: 'en-GB', ...options });
  await context.addInitScript((frameMs) => {
    const nextFrame = globalThis.requestAnimationFrame.bind(globalThis);
    globalThis.requestAnimationFrame = (draw) =>
      setTimeout(() => nextFrame(draw), frameMs) as unknown as number;
    globalThis.cancelAnimationFrame = (frame) => clearTimeout(frame);
  }, FRAME_MS);
  return context;
}
