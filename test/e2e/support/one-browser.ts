/**
 * One browser for all files of a run: launched before the first, closed after the last. Each file
 * connects to it.
 */
import type { TestProject } from 'vitest/node';
import { serveChromium } from '../../../bench/harness/chromium.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** Where the browser of this run listens. */
    readonly chromium?: string;
  }
}

export async function setup({ provide }: TestProject): Promise<(() => Promise<void>) | undefined> {
  const { server } = await serveChromium();
  // Without a browser, each file shows why.
  if (server === undefined) return undefined;
  provide('chromium', server.wsEndpoint());
  return () => server.close();
}
