/**
 * `npm run example -- express-react-postgres`: the result of the guide, installed from the packed package, in a real browser,
 * with a primary and a replica.
 */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { launchChromium } from '../../../bench/harness/chromium.ts';
import { freePorts } from '../../../engines/ports.ts';
import { execute } from '../../../scripts/smoke-package/project.ts';
import { accessibilityFaults } from '../../support/axe.ts';
import { withPostgres } from '../support/postgres.ts';

const root = fileURLToPath(new URL('../../..', import.meta.url));
const project = `${root}build/examples/express-react-postgres`;
const START_TIMEOUT_MS = 300_000;

const { browser, reason } = await launchChromium();
const subject = 'express-react-postgres';
const it = withPostgres({ replicas: 1, wan: 'paper' });

describe.skipIf(browser === undefined)(reason === undefined ? subject : `${subject} (skipped: ${reason})`, () => {
  let server: ChildProcess;
  let url: string;

  beforeAll(async () => {
    await it.servers.query('primary', await readFile(`${root}examples/${subject}/schema.sql`, 'utf8'));
    await it.servers.untilCaughtUp('replica-1');
    const address = (name: string): string =>
      `postgres://postgres@127.0.0.1:${it.servers.server(name).clientPorts.ireland}/postgres`;
    const [port] = await freePorts(1);
    server = spawn(process.execPath, ['--import', 'tsx', `${root}scripts/example.ts`, subject], {
      cwd: root,
      stdio: ['ignore', 'pipe', 'inherit'],
      env: {
        ...process.env,
        PRIMARY_URL: address('primary'),
        REPLICA_URL: address('replica-1'),
        PORT: String(port),
      },
    });
    for await (const line of createInterface({ input: server.stdout! })) {
      const [, printed] = /The bikes are at (\S+)/.exec(line) ?? [];
      if (printed === undefined) continue;
      url = printed;
      break;
    }
  }, START_TIMEOUT_MS);

  afterAll(async () => {
    await (browser as Browser).close();
    server.kill('SIGKILL');
  });

  /** Opens the page of one rider, and records what it shows of each bike. */
  async function openPage(rider: string): Promise<Page> {
    const page = await (browser as Browser).newPage();
    const errors: string[] = [];
    page.on('pageerror', (error) => errors.push(String(error)));
    onTestFinished(async () => {
      await page.close();
      expect(errors).toEqual([]);
    });
    await page.addInitScript(() => {
      const shown: Record<string, string[]> = {};
      const record = (): void => {
        for (const article of document.querySelectorAll('article')) {
          const texts = (shown[article.querySelector('h2')!.textContent] ??= []);
          const { textContent } = article.querySelector('p')!;
          if (textContent !== texts.at(-1)) texts.push(textContent);
        }
      };
      new MutationObserver(record).observe(document, { subtree: true, childList: true, characterData: true });
      Object.assign(globalThis, { shown });
    });
    await page.goto(`${url}/?rider=${rider}`);
    return page;
  }

  const shownOf = (page: Page, name: string): Promise<string[]> =>
    page.evaluate((bike) => (globalThis as unknown as { shown: Record<string, string[]> }).shown[bike] ?? [], name);

  const waitForText = (page: Page, name: string, text: string): Promise<void> =>
    page.locator('article', { hasText: name }).getByText(text, { exact: true }).waitFor();

  const rent = (page: Page, name: string): Promise<void> =>
    page.locator('article', { hasText: name }).getByRole('button').click();

  test('a replica that is behind → its view first, then that of the primary', async () => {
    await it.servers.pauseReplay('replica-1');
    await it.servers.query('primary', "update bikes set rider = 'Bob' where name = 'Red'");
    const page = await openPage('Ada');
    await waitForText(page, 'Red', 'rented by Bob');
    await waitForText(page, 'Blue', 'free');
    expect(await shownOf(page, 'Red')).toEqual(['free …', 'rented by Bob']);
    expect(await shownOf(page, 'Blue')).toEqual(['free …', 'free']);
    expect(await accessibilityFaults(page)).toEqual([]);
  });

  test('a write → shown at once, and never taken back by a replica that is behind', async () => {
    await it.servers.pauseReplay('replica-1');
    const page = await openPage('Ada');
    await waitForText(page, 'Blue', 'free');
    await rent(page, 'Blue');
    await waitForText(page, 'Blue', 'It is yours.');
    await waitForText(page, 'Blue', 'rented by Ada');
    expect(await shownOf(page, 'Blue')).toEqual(['free …', 'free', 'rented by Ada …', 'rented by Ada']);
  });

  test('a write that is refused → its reason, and the guess is taken back', async () => {
    const page = await openPage('Ada');
    await waitForText(page, 'Green', 'free');
    await it.servers.query('primary', "update bikes set rider = 'Eve' where name = 'Green'");
    await rent(page, 'Green');
    await waitForText(page, 'Green', 'Not yours: Eve was faster.');
    await waitForText(page, 'Green', 'rented by Eve');
    expect((await shownOf(page, 'Green')).slice(-2)).toEqual(['rented by Ada …', 'rented by Eve']);
  });

  test('its sources → compile against the packed declarations, and its own tests pass', async () => {
    const run = (script: string, ...args: string[]): Promise<unknown> =>
      execute(process.execPath, [script, ...args], { cwd: project });
    await Promise.all([
      run(`${root}node_modules/typescript/bin/tsc`, '-p', project),
      run(`${project}/node_modules/vitest/vitest.mjs`, 'run'),
    ]);
  });

  test('Ctrl-C → ends all of it', async () => {
    server.kill('SIGINT');
    const [code] = (await once(server, 'exit')) as [number];
    expect(code).toBe(0);
    await expect(fetch(url)).rejects.toThrow('fetch failed');
  });
});
