/**
 * `npm run example -- express-react-postgres`: the result of the guide, installed from the packed
 * package, in a real browser, with a primary and a replica.
 */
import { spawn, type ChildProcess, type SpawnOptions } from 'node:child_process';
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
/** What the script `start` of the example passes to Node. */
const SERVER = ['--import', 'tsx', 'src/server.ts'];
const STDIO: SpawnOptions = { stdio: ['ignore', 'pipe', 'inherit'] };

/** Returns the address that a server prints. */
async function readAddress(server: ChildProcess): Promise<string> {
  for await (const line of createInterface({ input: server.stdout! })) {
    const [, address] = /The bikes are at (\S+)/.exec(line) ?? [];
    if (address !== undefined) return address;
  }
  throw new Error('The server ended before it printed its address.');
}

const { browser, reason } = await launchChromium();
const subject = 'express-react-postgres';
const it = withPostgres({ replicas: 1, wan: 'paper' });

describe.skipIf(browser === undefined)(
  reason === undefined ? subject : `${subject} (skipped: ${reason})`,
  () => {
    let server: ChildProcess;
    let env: NodeJS.ProcessEnv;
    let url: string;

    beforeAll(async () => {
      await it.servers.query(
        'primary',
        await readFile(`${root}examples/${subject}/schema.sql`, 'utf8'),
      );
      await it.servers.untilCaughtUp('replica-1');
      const address = (name: string): string =>
        `postgres://postgres@127.0.0.1:${it.servers.server(name).clientPorts.ireland}/postgres`;
      const [port] = await freePorts(1);
      env = {
        ...process.env,
        PRIMARY_URL: address('primary'),
        REPLICA_URL: address('replica-1'),
        TOKEN_KEY: 'a secret of all processes',
        PORT: String(port),
      };
      server = spawn(process.execPath, ['--import', 'tsx', `${root}scripts/example.ts`, subject], {
        ...STDIO,
        cwd: root,
        env,
      });
      url = await readAddress(server);
    }, START_TIMEOUT_MS);

    afterAll(async () => {
      await (browser as Browser).close();
      server.kill('SIGKILL');
    });

    /** Opens the page of one rider, and records what it shows of each bike. */
    async function openPage(rider: string, address = url): Promise<Page> {
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
        new MutationObserver(record).observe(document, {
          subtree: true,
          childList: true,
          characterData: true,
        });
        Object.assign(globalThis, { shown });
      });
      await page.goto(`${address}/?rider=${rider}`);
      return page;
    }

    const shownOf = (page: Page, name: string): Promise<string[]> =>
      page.evaluate(
        (bike) => (globalThis as unknown as { shown: Record<string, string[]> }).shown[bike] ?? [],
        name,
      );

    const waitForText = (page: Page, name: string, text: string): Promise<void> =>
      page.locator('article', { hasText: name }).getByText(text, { exact: true }).waitFor();

    /** Runs one more server to its end. */
    const runServer = (variables: NodeJS.ProcessEnv): Promise<unknown> =>
      execute(process.execPath, SERVER, { cwd: project, env: { ...env, ...variables } });

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
      expect(await shownOf(page, 'Blue')).toEqual([
        'free …',
        'free',
        'rented by Ada …',
        'rented by Ada',
      ]);
    });

    test('a write that is refused → its reason, and the guess is taken back', async () => {
      const page = await openPage('Ada');
      await waitForText(page, 'Green', 'free');
      await it.servers.query('primary', "update bikes set rider = 'Eve' where name = 'Green'");
      await rent(page, 'Green');
      await waitForText(page, 'Green', 'Not yours: Eve was faster.');
      await waitForText(page, 'Green', 'rented by Eve');
      expect((await shownOf(page, 'Green')).slice(-2)).toEqual([
        'rented by Ada …',
        'rented by Eve',
      ]);
    });

    test('the command of the guide → prints both views', async () => {
      const reply = await fetch(`${url}/api/bike?args={"id":3}`, {
        headers: { accept: 'text/event-stream' },
      });
      const text = await reply.text();
      expect([...text.matchAll(/"level":"(\w+)"/g)].map(([, level]) => level)).toEqual([
        'replica',
        'primary',
      ]);
    });

    test('a port that is taken → the server fails', async () => {
      const failure = {
        code: 1,
        stdout: '',
        stderr: expect.stringContaining('EADDRINUSE') as string,
      };
      await expect(runServer({})).rejects.toMatchObject(failure);
    });

    test.each(['PRIMARY_URL', 'REPLICA_URL', 'TOKEN_KEY'])(
      'no %s → the server fails, and names it',
      async (name) => {
        const failure = { code: 1, stderr: expect.stringMatching(`Set .*${name}`) as string };
        await expect(runServer({ [name]: '' })).rejects.toMatchObject(failure);
      },
    );

    test('a restart with the same TOKEN_KEY → the sessions of open pages go on', async () => {
      const [port] = await freePorts(1);
      const start = (): ChildProcess =>
        spawn(process.execPath, SERVER, {
          ...STDIO,
          cwd: project,
          env: { ...env, PORT: String(port) },
        });

      const first = start();
      onTestFinished(() => void first.kill('SIGKILL'));
      const page = await openPage('Ada', await readAddress(first));
      await waitForText(page, 'Red', 'rented by Bob');
      first.kill('SIGINT');
      await once(first, 'exit');

      const second = start();
      onTestFinished(() => void second.kill('SIGKILL'));
      await readAddress(second);
      await rent(page, 'Red');
      await waitForText(page, 'Red', 'Not yours: Bob was faster.');
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
  },
);
