/** The scenarios of `correctables/react` in a real browser, with each supported version of React. */
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { EXPECTED_WARNINGS } from '../support/react/expected-warnings.ts';
import { openBrowser } from './support/browser.ts';

const { browser, reason } = await openBrowser();
const VERSIONS = { 'React 18': '-18', 'React 19': '' };

interface PageGlobals {
  readonly names: readonly string[];
  runScenario(name: string): Promise<void>;
}

/** The page's script, with React of the version whose packages end so. */
async function bundlePage(ending: string): Promise<string> {
  const { outputFiles } = await build({
    entryPoints: [fileURLToPath(new URL('react.page.ts', import.meta.url))],
    bundle: true,
    format: 'esm',
    platform: 'browser',
    define: { 'process.env.NODE_ENV': '"development"' },
    alias: { react: `react${ending}`, 'react-dom': `react-dom${ending}` },
    write: false,
  });
  return outputFiles[0]?.text ?? '';
}

describe.skipIf(browser === undefined)(reason === undefined ? 'in a browser' : `skipped: ${reason}`, () => {
  afterAll(() => (browser as Browser).close());

  describe.each(Object.entries(VERSIONS))('%s', (_, ending) => {
    let page: Page;
    const warnings: string[] = [];

    beforeAll(async () => {
      const script = await bundlePage(ending);
      page = await (browser as Browser).newPage();
      page.on('console', (message) => message.type() === 'error' && warnings.push(message.text()));
      await page.route('https://react.test/**', (route) =>
        route.fulfill({ contentType: 'text/html', body: '<!doctype html><title>scenarios</title><body></body>' }),
      );
      await page.goto('https://react.test/');
      await page.addScriptTag({ content: script, type: 'module' });
      await page.waitForFunction(() => 'names' in globalThis);
    });

    test('every scenario passes, and React warns of nothing', async () => {
      const results = await page.evaluate(async () => {
        const { names, runScenario } = globalThis as unknown as PageGlobals;
        const run = async (name: string): Promise<string> => {
          try {
            await runScenario(name);
            return `${name}: passed`;
          } catch (error) {
            return `${name}: ${String(error)}`;
          }
        };
        return Promise.all(names.map(run));
      });
      expect(results.filter((result) => !result.endsWith(': passed'))).toEqual([]);
      expect(results.length).toBeGreaterThan(30);
      expect(warnings.filter((text) => !EXPECTED_WARNINGS.test(text))).toEqual([]);
    });
  });
});
