/**
 * What spoils a page for people, beyond what axe finds: content that moves, and targets that are
 * too small for a finger.
 */
import type { Page } from 'playwright-core';

/** The sum of the layout shifts so far that no input caused, as browsers count them for CLS. */
export async function layoutShift(page: Page): Promise<number> {
  return await page.evaluate(
    () =>
      new Promise<number>((resolve) => {
        const add = (sum: number, entry: PerformanceEntry): number => {
          const { value, hadRecentInput } = entry as PerformanceEntry & {
            value: number;
            hadRecentInput: boolean;
          };
          return hadRecentInput ? sum : sum + value;
        };
        new PerformanceObserver((list) => resolve(list.getEntries().reduce(add, 0))).observe({
          type: 'layout-shift',
          buffered: true,
        });
        // Without a shift the observer is never called.
        setTimeout(() => resolve(0), 200);
      }),
  );
}

/**
 * Buttons, fields and links outside of sentences that are less than 44 pixels high, as a finger
 * needs.
 */
export async function smallTargets(page: Page): Promise<string[]> {
  return await page.evaluate(() => {
    const isInSentence = (element: Element): boolean => element.matches('p a, li p a, footer a');
    const sizeOf = (element: Element): DOMRect => {
      const label = element.matches('input[type="radio"], input[type="checkbox"]')
        ? element.closest('label')
        : null;
      return (label ?? element).getBoundingClientRect();
    };
    return [...document.querySelectorAll('a, button, select, input, summary')]
      .filter((element) => element.checkVisibility() && !isInSentence(element))
      .filter((element) => sizeOf(element).height < 43.5)
      .map(
        (element) =>
          `${element.tagName} ${element.id} ${element.textContent.trim()} ${sizeOf(element).height}`,
      );
  });
}
