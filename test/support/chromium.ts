/**
 * A headless Chromium for end-to-end tests: the one that comes from npm on Linux x64, an installed Chrome elsewhere.
 */
import { existsSync } from 'node:fs';
import sparticuz from '@sparticuz/chromium';
import { chromium, type Browser } from 'playwright-core';

/** Where the machine's own language is POSIX, Chromium would otherwise report one that `Intl` refuses. */
const ENGLISH = { ...process.env, LANG: 'en_US.UTF-8', LANGUAGE: 'en_US' } as Record<string, string>;

/** A browser, or why there is none. Close the browser when done. */
export type ChromiumLaunch =
  | { readonly browser: Browser; readonly reason?: never }
  | { readonly browser?: never; readonly reason: string };

/** Launches a browser. Never throws for a missing one: the reason is for the test report. */
export async function launchChromium(): Promise<ChromiumLaunch> {
  const fromEnvironment = process.env['CHROMIUM_PATH'];
  if (fromEnvironment !== undefined) {
    if (!existsSync(fromEnvironment)) throw new Error(`CHROMIUM_PATH names no file: ${fromEnvironment}`);
    return { browser: await chromium.launch({ executablePath: fromEnvironment, env: ENGLISH }) };
  }
  if (process.platform === 'linux' && process.arch === 'x64') {
    sparticuz.setGraphicsMode = false;
    const executablePath = await sparticuz.executablePath();
    return {
      browser: await chromium.launch({ executablePath, args: ['--no-sandbox', '--disable-gpu'], env: ENGLISH }),
    };
  }
  try {
    return { browser: await chromium.launch({ channel: 'chrome', env: ENGLISH }) };
  } catch (error) {
    const [firstLine] = String(error).split('\n');
    return { reason: `no browser: install Google Chrome or set CHROMIUM_PATH (${firstLine})` };
  }
}
