/**
 * A headless Chromium for tests and benchmarks: the one that comes from npm on Linux x64, an
 * installed Chrome elsewhere.
 */
import { existsSync } from 'node:fs';
import sparticuz from '@sparticuz/chromium';
import { chromium, type Browser, type BrowserServer, type LaunchOptions } from 'playwright-core';

/**
 * If the language of the machine is POSIX, Chromium would otherwise report a language that `Intl`
 * rejects.
 */
const ENGLISH = { ...process.env, LANG: 'en_US.UTF-8', LANGUAGE: 'en_US' } as Record<
  string,
  string
>;

/** A browser, or the reason why there is none. Close the browser when done. */
export type ChromiumLaunch =
  | { readonly browser: Browser; readonly reason?: never }
  | { readonly browser?: never; readonly reason: string };

/** Launches a browser. Never throws for a missing browser: tests report the reason. */
export async function launchChromium(): Promise<ChromiumLaunch> {
  const options = await howToLaunch();
  return await orReason(options, async () => ({ browser: await chromium.launch(options) }));
}

/** A browser for several processes, which connect to it, or the reason why there is none. */
export type ChromiumServer =
  | { readonly server: BrowserServer; readonly reason?: never }
  | { readonly server?: never; readonly reason: string };

export async function serveChromium(): Promise<ChromiumServer> {
  const options = await howToLaunch();
  return await orReason(options, async () => ({ server: await chromium.launchServer(options) }));
}

async function howToLaunch(): Promise<LaunchOptions> {
  const fromEnvironment = process.env['CHROMIUM_PATH'];
  if (fromEnvironment !== undefined) {
    if (!existsSync(fromEnvironment))
      throw new Error(`CHROMIUM_PATH names no file: ${fromEnvironment}`);
    return { executablePath: fromEnvironment, env: ENGLISH };
  }
  if (process.platform === 'linux' && process.arch === 'x64') {
    sparticuz.setGraphicsMode = false;
    const executablePath = await sparticuz.executablePath();
    return { executablePath, args: ['--no-sandbox', '--disable-gpu'], env: ENGLISH };
  }
  return { channel: 'chrome', env: ENGLISH };
}

/**
 * Returns the reason if Chrome is not installed. Rethrows the error of a browser whose path is
 * known.
 */
async function orReason<T>(
  { channel }: LaunchOptions,
  launch: () => Promise<T>,
): Promise<T | { reason: string }> {
  try {
    return await launch();
  } catch (error) {
    if (channel === undefined) throw error;
    const [firstLine] = String(error).split('\n');
    return { reason: `no browser: install Google Chrome or set CHROMIUM_PATH (${firstLine})` };
  }
}
