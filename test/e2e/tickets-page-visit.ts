/** Visiting the ticket shop's page: opening it, waiting for a phase, reading what it shows. */
import type { Browser, BrowserContext, BrowserContextOptions, Page } from 'playwright-core';
import type { Verdict } from '../../demo/tickets/verify/verify-sales.ts';
import { contextIn } from './support/browser.ts';

/** What the page counts. */
export type Counts = Pick<
  Verdict,
  'confirmed' | 'confirmedEarly' | 'revoked' | 'oversold' | 'duplicates'
>;

export interface Visit extends AsyncDisposable {
  readonly context: BrowserContext;
  readonly page: Page;
  /** What went wrong in the page's script. */
  readonly errors: readonly string[];
}

/** Opens `url` in a context of its own, on a page that was prepared for it. */
export async function visit(
  browser: Browser,
  url: string,
  options: BrowserContextOptions = {},
  prepare?: (page: Page) => Promise<void>,
): Promise<Visit> {
  const context = await contextIn(browser, options);
  const errors: string[] = [];
  context.on('weberror', (error) => errors.push(error.error().message));
  const page = await context.newPage();
  await prepare?.(page);
  await page.goto(url);
  return { context, page, errors, [Symbol.asyncDispose]: () => context.close() };
}

export async function inPhase(page: Page, phase: string): Promise<void> {
  await page.locator(`#status[data-phase="${phase}"]`).waitFor({ timeout: 60_000 });
}

export async function counts(page: Page): Promise<Counts> {
  const shown = async (name: keyof Counts): Promise<number> =>
    Number(await page.locator(`[data-count="${name}"]`).textContent());
  return {
    confirmed: await shown('confirmed'),
    confirmedEarly: await shown('confirmedEarly'),
    revoked: await shown('revoked'),
    oversold: await shown('oversold'),
    duplicates: await shown('duplicates'),
  };
}

/** The event that the address of the page names. */
export function eventOf(page: Page): string | null {
  return new URL(page.url()).searchParams.get('event');
}
