/** The first component of the guides to React and to TanStack Query, rendered in a page. */
import { transform } from 'esbuild';
import { createElement, type ReactNode } from 'react';
import { expect, test } from 'vitest';
import { openSmallPage } from '../support/small-page.ts';
import { loadCode } from './bundle.ts';
import { readPage } from './guide.ts';

const { window, createRoot } = await openSmallPage();

test.each(['react', 'tanstack-query'])('%s → shows loading, the early view and the final one', async (name) => {
  const [component = ''] = (await readPage(`guides/${name}`)).plain;
  const { code } = await transform(component, { loader: 'tsx', jsx: 'automatic' });
  const { App } = await loadCode<{ readonly App: () => ReactNode }>(code, name);
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
