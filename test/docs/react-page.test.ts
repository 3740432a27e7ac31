/** The component of docs/guides/react.md in a page. */
import { readFile } from 'node:fs/promises';
import { transform } from 'esbuild';
import { parseHTML } from 'linkedom';
import { createElement, type ReactNode } from 'react';
import { afterAll, expect, test, vi } from 'vitest';
import { loadCode } from './bundle.ts';

const { window } = parseHTML('<html><body></body></html>');
vi.stubGlobal('window', Object.assign(window, { location: new URL('https://page.test/') }));
vi.stubGlobal('document', window.document);
vi.stubGlobal('navigator', window.navigator);
for (const name of ['addEventListener', 'removeEventListener'] as const) vi.stubGlobal(name, window[name].bind(window));
afterAll(() => vi.unstubAllGlobals());

// React recommends tools when it loads.
vi.spyOn(console, 'info').mockImplementation(() => {});
const guide = await readFile(new URL('../../docs/guides/react.md', import.meta.url), 'utf8');
const [, jsx = ''] = /```\n(import \{ Suspense \}[\s\S]*?)```/.exec(guide) ?? [];
const { code } = await transform(jsx, { loader: 'tsx', jsx: 'automatic' });
const { App } = await loadCode<{ readonly App: () => ReactNode }>(code, 'react-guide');
const { createRoot } = await import('react-dom/client');
vi.restoreAllMocks();

test('the component → shows loading, the early view and the final one', async () => {
  const element = window.document.createElement('div');
  const root = createRoot(element);
  const shown: string[] = [];
  const observe = setInterval(() => {
    const text = element.textContent?.trim() ?? '';
    if (text !== '' && text !== shown.at(-1)) shown.push(text);
  }, 1);
  root.render(createElement(App));
  await expect.poll(() => shown).toEqual(['loading', '12 left …', '11 left']);
  clearInterval(observe);
  root.unmount();
  await expect.poll(() => element.textContent).toBe('');
  await new Promise((resolve) => setImmediate(resolve));
});
