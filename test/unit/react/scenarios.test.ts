/** The scenarios of `correctables/react` on a small DOM. `test/e2e/react.test.ts` runs them in a browser. */
import { parseHTML } from 'linkedom';
import { afterAll, expect, test, vi } from 'vitest';
import { EXPECTED_WARNINGS } from '../../support/react/expected-warnings.ts';

const { window } = parseHTML('<html><body></body></html>');
vi.stubGlobal('window', Object.assign(window, { location: new URL('https://page.test/') }));
vi.stubGlobal('document', window.document);
vi.stubGlobal('navigator', window.navigator);
vi.stubGlobal('addEventListener', window.addEventListener.bind(window));

// React recommends tools when it loads.
vi.spyOn(console, 'info').mockImplementation(() => {});
const warnings: unknown[] = [];
vi.spyOn(console, 'error').mockImplementation((...texts) => {
  if (!EXPECTED_WARNINGS.test(String(texts[0]))) warnings.push(texts);
});
const { SCENARIOS, runScenario } = await import('../../support/react/scenarios.ts');

afterAll(async () => {
  // The scheduler may look at the page once more.
  await new Promise((resolve) => setImmediate(resolve));
  vi.unstubAllGlobals();
  vi.restoreAllMocks();
});

// Each has a page of its own. React waits a while before it shows what was suspended.
test.concurrent.each(Object.keys(SCENARIOS))('%s', async (name) => {
  await runScenario(name);
  expect(warnings).toEqual([]);
});
