/** Uses the page `simulator` as a visitor does, and compares its runs with those of Node. */
import type { Page } from 'playwright-core';
import { recordRun } from '../test/simulator/recorder/record-run.ts';
import { FAULT_CHOICES, FIRST_RUN } from './simulator/examples.ts';

/** The worker of the page is as fast as the machine, on which other things may run. */
const TIMEOUT_MS = 60_000;

export async function findSimulatorFaults(page: Page): Promise<string[]> {
  const waitFor = async (selector: string, text: string): Promise<string[]> => {
    const found = page.locator(selector, { hasText: text }).first();
    const isThere = await found.waitFor({ timeout: TIMEOUT_MS }).then(
      () => true,
      () => false,
    );
    return isThere
      ? []
      : [`no '${text}', but: ${(await page.locator('.sim-verdict').allInnerTexts()).join()}`];
  };

  const { operations, messages } = recordRun(FIRST_RUN.seed, FIRST_RUN.profile);
  const verdict = `0 faults; ${operations.length} operations, ${messages.length} messages`;
  const faults = await waitFor('.sim-verdict', verdict);
  if (faults.length > 0) return faults;
  await page.locator('.sim-arrow .sim-head').first().dispatchEvent('click');
  faults.push(...(await waitFor('.sim-detail', 'It arrives at')));
  await page.getByRole('button', { name: 'Next event' }).press('Enter');

  // The command is that of the run, not that of a seed nobody has run.
  await page.locator('.sim-seed input').fill('7');
  faults.push(...(await waitFor('.simulator > p code', `--seed ${FIRST_RUN.seed}`)));
  await page.locator('.sim-seed input').fill(String(FIRST_RUN.seed));

  const { fault = '' } = FAULT_CHOICES[0] ?? {};
  await page.getByLabel('Planted fault').selectOption(fault);
  faults.push(...(await waitFor('.sim-verdict.found', 'The checker of')));
  return faults;
}
