/** The launcher as a person meets it: its program, its start page in a real browser, and demos that do not start. */
import type { Browser, Page } from 'playwright-core';
import { afterAll, describe, expect, test } from 'vitest';
import { demos, type Demo } from '../../demo/launcher/demos.ts';
import { startLauncher } from '../../demo/launcher/server.ts';
import { accessibilityFaults } from '../support/axe.ts';
import { Program, runProgram } from '../support/run-program.ts';
import { advanceUntil, withFakeTime } from './fake-time.ts';
import { contextIn, openBrowser } from './support/browser.ts';

const LAUNCHER = ['--import', 'tsx', 'demo/main.ts'];

test('demo: started → prints its address, answers there, and ends cleanly when interrupted', async () => {
  using program = new Program([...LAUNCHER, '--port', '0']);
  const url = /http:\S+/.exec(await program.line())?.[0] as string;
  const response = await fetch(url);
  expect(response.status).toBe(200);
  const page = await response.text();
  for (const { title } of demos) expect(page).toContain(title);
  expect((await fetch(`${url}/nowhere`)).status).toBe(404);
  program.signal('SIGINT');
  expect(await program.ended()).toMatchObject({ code: 0, stderr: '' });
});

test('demo: the port is taken → says which flag and variable change it', async () => {
  await using taken = disposable(await startLauncher({ port: 0, demos: [] }));
  const { code, stderr } = await runProgram([...LAUNCHER, '--port', new URL(taken.value.url).port]);
  expect(code).toBe(1);
  expect(stderr).toContain('is taken');
  expect(stderr).toContain('--port N or PORT=N');
});

const { browser, reason } = await openBrowser();
const subject = reason === undefined ? 'start page' : `start page (skipped: ${reason})`;

describe.skipIf(browser === undefined)(subject, () => {
  afterAll(() => (browser as Browser).close());

  test('read again → two reads, each with an early view; one is confirmed, one corrected', async () => {
    await using launcher = disposable(await startLauncher({ port: 0, demos: [] }));
    await using visit = await visitOf(launcher.value.url, {}, withFakeTime);
    const { page } = visit;
    await advanceUntil(page, '#again:enabled');
    const [seen] = await Promise.all([page.evaluate(readAgain), advanceUntil(page, '#again:enabled')]);
    expect(seen.filter((line) => line.startsWith('umbrella'))).toEqual([
      'umbrella asked … …',
      'umbrella preliminary 12 € …',
      'umbrella confirmed 12 € 12 €',
    ]);
    expect(seen.filter((line) => line.startsWith('sunglasses'))).toEqual([
      'sunglasses asked … …',
      'sunglasses preliminary 20 € …',
      'sunglasses corrected 20 € 18 €',
    ]);
    expect(visit.errors).toEqual([]);
  });

  test('a demo opened by keyboard → started once, and shown', async () => {
    await using launcher = disposable(await startLauncher({ port: 0, demos }));
    await using visit = await visitOf(launcher.value.url);
    const { page } = visit;
    await page.getByRole('link', { name: 'Ticket shop' }).focus();
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Ticket shop' }).waitFor();
    await page.locator('#status[data-phase="selling"]').waitFor();
    const shop = new URL(page.url()).origin;
    expect(shop).not.toBe(launcher.value.url);

    await page.goto(launcher.value.url);
    await page.getByText('running').waitFor();
    await page.getByRole('link', { name: 'Ticket shop' }).click();
    await page.getByRole('heading', { name: 'Ticket shop' }).waitFor();
    expect(new URL(page.url()).origin).toBe(shop);
    expect(visit.errors).toEqual([]);
  });

  test('a demo that does not start → says why, and can be tried again', async () => {
    let tries = 0;
    const broken: Demo = {
      name: 'broken',
      title: 'Broken <demo>',
      about: 'It never starts.',
      paper: 'nothing',
      start: () => {
        tries += 1;
        return Promise.reject(new Error('no <b>luck</b>'));
      },
    };
    await using launcher = disposable(await startLauncher({ port: 0, demos: [broken] }));
    await using visit = await visitOf(launcher.value.url);
    await visit.page.getByRole('link', { name: 'Broken <demo>' }).click();
    await visit.page.getByText('no <b>luck</b>').waitFor();
    expect(await accessibilityFaults(visit.page)).toEqual([]);
    await visit.page.getByRole('link', { name: 'Try again' }).click();
    await visit.page.getByText('no <b>luck</b>').waitFor();
    expect(tries).toBe(2);
  });

  test.each(['light', 'dark'] as const)(
    'a small phone in the %s → all fits, and keeps nobody out',
    async (colorScheme) => {
      await using launcher = disposable(await startLauncher({ port: 0, demos }));
      const phone = { viewport: { width: 320, height: 640 }, colorScheme };
      await using visit = await visitOf(launcher.value.url, phone, withFakeTime);
      await advanceUntil(visit.page, '#again:enabled');
      expect(await visit.page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(320);
      expect(await accessibilityFaults(visit.page)).toEqual([]);
    },
  );

  async function visitOf(url: string, options: object = {}, prepare?: (page: Page) => Promise<void>): Promise<Visit> {
    const context = await contextIn(browser as Browser, options);
    const page = await context.newPage();
    await prepare?.(page);
    const errors: string[] = [];
    page.on('pageerror', (error) => errors.push(error.message));
    await page.goto(url);
    return { page, errors, [Symbol.asyncDispose]: () => context.close() };
  }
});

/** In the page: reads once more, and gives what each read shows from its beginning to its end. */
function readAgain(): Promise<string[]> {
  const seen: string[] = [];
  const again = document.querySelector<HTMLButtonElement>('#again') as HTMLButtonElement;
  for (const read of document.querySelectorAll<HTMLElement>('.read')) {
    const note = (): void => {
      const texts = [...read.querySelectorAll('b')].map(({ textContent }) => textContent);
      seen.push([read.id, read.dataset['state'], ...texts].join(' '));
    };
    new MutationObserver(note).observe(read, { attributeFilter: ['data-state'] });
  }
  return new Promise((resolve) => {
    const end = (): void => (again.disabled ? undefined : resolve(seen));
    new MutationObserver(end).observe(again, { attributeFilter: ['disabled'] });
    again.click();
  });
}

interface Visit extends AsyncDisposable {
  readonly page: Page;
  readonly errors: readonly string[];
}

function disposable<T extends { close(): Promise<void> }>(value: T): AsyncDisposable & { readonly value: T } {
  return { value, [Symbol.asyncDispose]: () => value.close() };
}
