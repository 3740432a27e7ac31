/** What the demos' servers tell browsers, and that no page of theirs needs more. */
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startAdPage } from '../../demo/ad-server/page-server.ts';
import { startBank } from '../../demo/bank/server.ts';
import { demos } from '../../demo/launcher/demos.ts';
import { startLauncher } from '../../demo/launcher/server.ts';
import { startNews } from '../../demo/news/server.ts';
import { startNetwork } from '../../demo/social/server.ts';
import { startShop } from '../../demo/tickets/server.ts';
import { startTimelinePage } from '../../demo/twissandra/page-server.ts';
import { ODD_TARGETS, statusOf } from '../support/odd-request-targets.ts';
import { openBrowser } from './support/browser.ts';

interface Server {
  readonly url: string;
  close(): Promise<void>;
}

const DATA = { scale: 0.002, seed: 1, wan: 'none', port: 0 } as const;

/**
 * By demo: how to start it, other paths that it answers, and what to do in its page until a
 * selector is there.
 */
const SERVERS = {
  start: {
    open: () => startLauncher({ port: 0, demos }),
    paths: ['/style.css', '/views.js', '/nowhere'],
    act: ['', 'h2'],
  },
  tickets: {
    open: () => startShop({ port: 0, wan: 'none' }),
    paths: ['/nowhere'],
    act: ['', '#status[data-phase="sold-out"]', '?tickets=30&threshold=10&pace=5'],
  },
  bank: {
    open: () => startBank({ port: 0 }),
    paths: ['/nowhere'],
    act: ['#same-money', '#tellers tr[data-status="confirmed"]'],
  },
  social: {
    open: () => startNetwork({ port: 0 }),
    paths: ['/nowhere'],
    act: ['#meet', '#desks tr[data-outcome="done"]'],
  },
  news: {
    open: () => startNews({ port: 0, delays: 'measured' }),
    paths: ['/state', '/writer', '/nowhere'],
    act: ['#publish', '#steps [data-step="strong"][data-state="done"]'],
  },
  ads: {
    open: () => startAdPage(DATA),
    paths: ['/about', '/content?creatives=creative-1', '/content', '/nowhere'],
    act: ['', '#status[data-phase="delivered"]'],
  },
  twissandra: {
    open: () => startTimelinePage(DATA),
    paths: ['/about', '/nowhere'],
    act: ['', '#status[data-phase="delivered"]'],
  },
} as const satisfies Record<
  string,
  { open: () => Promise<Server>; paths: readonly string[]; act: readonly string[] }
>;

const { browser, reason } = await openBrowser();

afterAll(() => browser?.close());

describe.each(Object.entries(SERVERS))('%s', (_, { open, paths, act }) => {
  let server: Server;

  beforeAll(async () => {
    server = await open();
  });

  afterAll(() => server.close());

  test('every answer → a policy without anything inline, nosniff, no referrer', async () => {
    for (const path of ['/', ...paths]) {
      const { headers } = await fetch(new URL(path, server.url));
      expect(headers.get('x-content-type-options')).toBe('nosniff');
      expect(headers.get('referrer-policy')).toBe('no-referrer');
      const policy = headers.get('content-security-policy');
      expect(policy).toContain("default-src 'none'");
      expect(policy).not.toMatch(/unsafe|\*/);
    }
  });

  test('a target that is no address → an answer, and it serves on', async () => {
    for (const target of ODD_TARGETS) {
      expect(await statusOf(server.url, target), target).toBeOneOf([200, 400, 404]);
      expect(await statusOf(server.url, '/'), `after ${target}`).toBe(200);
    }
  });

  test.skipIf(browser === undefined)(
    `its page in use → nothing that the policy forbids${reason === undefined ? '' : ` (skipped: ${reason})`}`,
    async () => {
      const context = await (browser as Browser).newContext({ locale: 'en-GB' });
      const page = await context.newPage();
      const violations: string[] = [];
      await page.exposeFunction('tellViolation', (description: string) =>
        violations.push(description),
      );
      await page.addInitScript(() => {
        const { tellViolation } = window as unknown as { tellViolation(description: string): void };
        addEventListener(
          'securitypolicyviolation',
          ({ violatedDirective, blockedURI, sourceFile, sample }) =>
            tellViolation(`${violatedDirective} ${blockedURI} ${sourceFile ?? ''} ${sample}`),
        );
      });
      page.on('console', (message) => {
        if (message.text().includes('Content Security Policy')) violations.push(message.text());
      });
      const [button, done, query = ''] = act as readonly string[];
      await page.goto(`${server.url}/${query}`);
      if (button) await page.click(button);
      await page
        .locator(done as string)
        .first()
        .waitFor();
      // Long enough for a frame, in which plots are drawn.
      await page.evaluate(
        () => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve))),
      );
      expect(violations).toEqual([]);
      await context.close();
    },
  );
});
