/**
 * The scenarios of `correctables/react` in a real browser, with each supported version of React.
 */
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { EXPECTED_WARNINGS } from '../support/react/expected-warnings.ts';
import type { runScenarios } from './react.page.ts';
import { openBrowser } from './support/browser.ts';
import { bundlePage } from './support/page-bundle.ts';

const { browser, reason } = await openBrowser();
/** Which packages each version is in, in place of the current ones. */
const VERSIONS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  'React 18': { react: 'react-18', 'react-dom': 'react-dom-18' },
  'React 19': {},
};

interface PageGlobals {
  readonly runScenarios: typeof runScenarios;
}

describe.skipIf(browser === undefined)(
  reason === undefined ? 'in a browser' : `skipped: ${reason}`,
  () => {
    afterAll(() => (browser as Browser).close());

    describe.each(Object.entries(VERSIONS))('%s', (_, alias) => {
      let page: Page;
      const warnings: string[] = [];

      beforeAll(async () => {
        const script = await bundlePage('react.page.ts', alias);
        page = await (browser as Browser).newPage();
        page.on(
          'console',
          (message) => message.type() === 'error' && warnings.push(message.text()),
        );
        await page.route('https://react.test/**', (route) =>
          route.fulfill({
            contentType: 'text/html',
            body: '<!doctype html><title>scenarios</title><body></body>',
          }),
        );
        await page.goto('https://react.test/');
        await page.addScriptTag({ content: script, type: 'module' });
        await page.waitForFunction(() => 'runScenarios' in globalThis);
      });

      test('every scenario passes, and React warns of nothing', async () => {
        const results = await page.evaluate(() =>
          (globalThis as unknown as PageGlobals).runScenarios(),
        );
        const failed = results.filter(({ error }) => error !== undefined);
        if (failed.length > 0)
          throw new Error(failed.map(({ name, error }) => `${name}: ${error}`).join('\n'));
        expect(results.length).toBeGreaterThan(30);
        expect(warnings.filter((text) => !EXPECTED_WARNINGS.test(text))).toEqual([]);
      });
    });
  },
);
