/**
 * The service and the page of docs/start/quick-start-http.md, as a reader builds them: the log has
 * the cause of a failure.
 */
import { once } from 'node:events';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { transform } from 'esbuild';
import { http, HttpResponse, passthrough } from 'msw';
import { setupServer } from 'msw/node';
import { createElement, type ReactNode } from 'react';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test, vi } from 'vitest';
import { openSmallPage } from '../support/small-page.ts';
import { loadCode } from './bundle.ts';
import { readPage } from './guide.ts';

const { window, createRoot } = await openSmallPage();
const { files, plain } = await readPage('start/quick-start-http');

const ORIGIN = 'https://origin.example/articles/7';
const network = setupServer(
  http.get('https://cache.example/articles/7', () => HttpResponse.json({ title: 'Storm nears' })),
  http.get(/^http:\/\/127\.0\.0\.1/, () => passthrough()),
);

let server: Server;
let pageCode = '';
const printed = vi.spyOn(console, 'error').mockImplementation(() => {});

beforeAll(async () => {
  network.listen({ onUnhandledRequest: 'error' });
  vi.stubEnv('PORT', '0');
  ({ server } = await loadCode<{ server: Server }>(
    files.get('articles-server.ts') ?? '',
    'articles-server',
  ));
  if (!server.listening) await once(server, 'listening');
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

  // A browser resolves the address by its page.
  const { fetch } = globalThis;
  vi.stubGlobal('fetch', (path: string, init: RequestInit) => fetch(new URL(path, origin), init));
  const component = plain.join('\n').replaceAll(/^import .* from '\.\/.*';$/gm, '');
  const { code } = await transform(component, { loader: 'tsx', jsx: 'automatic' });
  pageCode = `${files.get('articles-client.ts') ?? ''}${code}`;
});
beforeEach(() => printed.mockClear());
afterEach(() => network.resetHandlers());
afterAll(() => {
  printed.mockRestore();
  server.closeAllConnections();
  server.close();
  network.close();
});

/**
 * Opens the page, and lets the origin reply once the page shows the early view. Returns its texts
 * until `last`.
 */
async function show(reply: () => Response, last: string): Promise<readonly string[]> {
  const { ArticlePage } = await loadCode<{ ArticlePage: () => ReactNode }>(
    pageCode,
    'article-page',
  );
  const element = window.document.createElement('div');
  const shown: string[] = [];
  const observe = setInterval(() => {
    const text = element.textContent?.trim() ?? '';
    if (text !== '' && text !== shown.at(-1)) shown.push(text);
  }, 1);
  network.use(
    http.get(ORIGIN, async () => {
      await expect.poll(() => shown).toContain('Storm nears …');
      return reply();
    }),
  );
  const root = createRoot(element);
  root.render(createElement(ArticlePage));
  await expect.poll(() => shown.at(-1)).toBe(last);
  clearInterval(observe);
  root.unmount();
  return shown;
}

test('a page of the service shows the early view, then the final one', async () => {
  const shown = await show(() => HttpResponse.json({ title: 'Storm passes' }), 'Storm passes');
  expect(shown).toEqual(['loading', 'Storm nears …', 'Storm passes']);
  expect(printed).not.toHaveBeenCalled();
});

test('a tier that fails leaves the early view on the page, and its cause once in the log of the server', async () => {
  const reply = (): Response => HttpResponse.json({ secret: 'db-7.internal' }, { status: 500 });
  const shown = await show(reply, 'Storm nears (not current: FINAL_FAILED)');
  expect(shown.join()).not.toContain('db-7');
  expect(printed).toHaveBeenCalledExactlyOnceWith(
    'tiered: the tier "origin" failed in get:',
    expect.objectContaining({ message: 'Request failed with status code 500' }),
  );
});
