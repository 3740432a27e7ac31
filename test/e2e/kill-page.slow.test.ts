/**
 * The page with the kill button, when the server is killed from outside, and when the demo is away
 * and comes back.
 */
import type { Browser, Page } from 'playwright-core';
import { afterAll, describe, expect, test } from 'vitest';
import { Load } from '../../demo/kill/load.ts';
import { startKillPage, type RunningKillPage } from '../../demo/kill/page-server.ts';
import type { KillState } from '../../demo/kill/page/state.ts';
import { contextIn, openBrowser } from './support/browser.ts';

const PATIENCE = { timeout: 60_000 };
const BACK = /^Killed, back after [\d.]+ s, lost 0 of \d+ acknowledged writes\.$/;
const WORKING = /^[1-9]\d* writes acknowledged/;

const { browser, reason } = await openBrowser();

describe.skipIf(browser === undefined)(
  reason === undefined ? 'kill page' : `kill page (skipped: ${reason})`,
  () => {
    afterAll(() => (browser as Browser).close());

    test('the server is killed from a terminal → it starts again, and nothing is lost', async () => {
      const demo = await startKillPage({ port: 0 });
      await visit(demo, async (page) => {
        const pid = await pidOf(demo);
        await page.locator('#pid', { hasText: String(pid) }).waitFor(PATIENCE);
        process.kill(pid, 'SIGKILL');
        await page.locator('#headline', { hasText: BACK }).waitFor(PATIENCE);
      });
      await demo.close();
    });

    test('the server ends again while it starts → the page reports it, and the button starts it', async () => {
      const demo = await startKillPage({ port: 0 });
      await visit(demo, async (page) => {
        const first = await pidOf(demo);
        process.kill(first, 'SIGKILL');
        await expect.poll(() => pidOf(demo)).not.toBe(first);
        process.kill(await pidOf(demo), 'SIGKILL');
        await page.locator('#headline', { hasText: 'The server is not back' }).waitFor(PATIENCE);
        await page.getByRole('button', { name: 'Start the server again' }).click();
        await page.locator('#headline', { hasText: BACK }).waitFor(PATIENCE);
      });
      await demo.close();
    });

    test('the demo is closed and started again → the page reports it, and goes on', async () => {
      const demo = await startKillPage({ port: 0 });
      const port = Number(new URL(demo.url).port);
      await visit(demo, async (page, errors) => {
        await page.locator('#headline', { hasText: WORKING }).waitFor(PATIENCE);
        await demo.close();
        await page.getByRole('alert').getByText('does not answer').waitFor();
        await page.getByRole('button').click();
        const again = await startKillPage({ port });
        await page.locator('#failure').waitFor({ state: 'hidden' });
        await page.locator('#headline', { hasText: WORKING }).waitFor(PATIENCE);
        await again.close();
        expect(errors).toEqual([]);
      });
    });
  },
);

test('load: no server for longer than a time limit → endless workers go on, and end at once when abandoned', async () => {
  const url = 'ws://127.0.0.1:1/ireland';
  const sent = new Set<string>();
  const isGoingOn = new Promise<void>((resolve) => {
    const load: Load = new Load(
      [url],
      ({ operation }) => {
        sent.add(operation);
        if (sent.size === 40) void load.abandon().then(resolve);
      },
      { timeoutMs: 20, isEndless: true },
    );
    load.start();
  });
  await isGoingOn;
});

async function pidOf({ url }: RunningKillPage): Promise<number> {
  const { pid = 0 } = (await (await fetch(`${url}/state`)).json()) as KillState;
  return pid;
}

async function visit(
  demo: RunningKillPage,
  look: (page: Page, errors: string[]) => Promise<void>,
): Promise<void> {
  const context = await contextIn(browser as Browser);
  const page = await context.newPage();
  const errors: string[] = [];
  page.on('pageerror', (error) => errors.push(error.message));
  await page.goto(demo.url);
  await look(page, errors);
  await context.close();
}
