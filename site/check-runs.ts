/** Presses the Run buttons of a page, and compares what the code prints with what the page says. */
import type { Page } from 'playwright-core';

const MAX_RUN_MS = 10_000;

/** Code may print after the end of the program, so this waits for the output. */
export async function findRunFaults(page: Page): Promise<string[]> {
  const faults: string[] = [];
  for (const program of await page.locator('.run-program').all()) {
    const expected = await program
      .locator('xpath=following-sibling::*[1]')
      .locator('code')
      .innerText();
    await program.getByRole('button').click();
    const output = program.getByRole('status');
    const isPrinted = await page
      .waitForFunction(isSameText, [await output.elementHandle(), expected] as const, {
        timeout: MAX_RUN_MS,
      })
      .catch(() => false);
    if (isPrinted !== false) continue;
    faults.push(
      `the code printed ${JSON.stringify(await output.innerText())} instead of ${JSON.stringify(expected)}`,
    );
  }
  return faults;
}

const isSameText = ([element, expected]: readonly [Node | null, string]): boolean =>
  element?.textContent?.trim() === expected.trim();
