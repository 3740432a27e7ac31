/** The scenarios of `correctables/react` on a small DOM. `test/e2e/react.test.ts` runs them in a browser. */
import { expect, test, vi } from 'vitest';
import { EXPECTED_WARNINGS } from '../../support/react/expected-warnings.ts';
import { openSmallPage } from '../../support/small-page.ts';

await openSmallPage();

const warnings: unknown[] = [];
vi.spyOn(console, 'error').mockImplementation((...texts) => {
  if (!EXPECTED_WARNINGS.test(String(texts[0]))) warnings.push(texts);
});
const { SCENARIOS, runScenario } = await import('../../support/react/scenarios.ts');

// Each has a page of its own. React waits a while before it shows what was suspended.
test.concurrent.each(Object.keys(SCENARIOS))('%s', async (name) => {
  await runScenario(name);
  expect(warnings).toEqual([]);
});
