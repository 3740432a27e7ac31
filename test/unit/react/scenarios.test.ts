/**
 * The scenarios of `correctables/react` on a small DOM. `test/e2e/react.test.ts` runs them in a
 * browser.
 */
import { expect, test, vi } from 'vitest';
import { EXPECTED_WARNINGS } from '../../support/react/expected-warnings.ts';
import { openSmallPage } from '../../support/small-page.ts';

await openSmallPage();

const warnings: unknown[] = [];
vi.spyOn(console, 'error').mockImplementation((...texts) => {
  if (!EXPECTED_WARNINGS.test(String(texts[0]))) warnings.push(texts);
});
const { CONCURRENT_SCENARIOS, EXCLUSIVE_SCENARIOS, runScenario } =
  await import('../../support/react/scenarios.ts');

async function runWithoutWarnings(name: string): Promise<void> {
  await runScenario(name);
  expect(warnings).toEqual([]);
}

// Each has a page of its own. React waits a while before it shows what was suspended.
test.concurrent.each(CONCURRENT_SCENARIOS)('%s', runWithoutWarnings);
test.each(EXCLUSIVE_SCENARIOS)('%s', runWithoutWarnings);
