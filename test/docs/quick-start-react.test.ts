/** The app of docs/start/quick-start-react.md in a page, where views arrive while it is shown. */
import { readFile } from 'node:fs/promises';
import { transform } from 'esbuild';
import { act, createElement, type ReactNode } from 'react';
import { afterEach, expect, test, vi } from 'vitest';
import { openSmallPage } from '../support/small-page.ts';
import { loadCode } from './bundle.ts';

const { window, createRoot } = await openSmallPage();

const page = await readFile(
  new URL('../../docs/start/quick-start-react.md', import.meta.url),
  'utf8',
);
const [, client = ''] = /```ts\n([\s\S]*?)```/.exec(page) ?? [];
const [, jsx = ''] = /```\n(import \{ startTransition[\s\S]*?)```/.exec(page) ?? [];
const { code: app } = await transform(jsx.replaceAll(/^import .* from '\.\/.*';$/gm, ''), {
  loader: 'tsx',
  jsx: 'automatic',
});
const { App } = await loadCode<{ readonly App: () => ReactNode }>(
  `${client}${app}`,
  'quick-start-react',
);

let root: ReturnType<typeof createRoot> | undefined;
afterEach(async () => {
  vi.stubGlobal('IS_REACT_ACT_ENVIRONMENT', true);
  await act(async () => root?.unmount());
});

test('the app: shows loading and both views; Next keeps the old text until the new read has a view', async () => {
  vi.stubGlobal('IS_REACT_ACT_ENVIRONMENT', false);
  const element = window.document.createElement('div');
  window.document.body.append(element);
  root = createRoot(element);
  const shown: string[] = [];
  const observe = setInterval(() => {
    const isHeld = element.querySelector('section button')?.hasAttribute('disabled') === true;
    const now = `${element.querySelector('p')?.textContent?.trim() ?? ''}${isHeld ? ' (Buy is held)' : ''}`;
    if (now !== '' && now !== shown.at(-1)) shown.push(now);
  }, 1);
  try {
    root.render(createElement(App));
    await expect
      .poll(() => shown)
      .toEqual(['loading', 'Storm (first), 20 € … (Buy is held)', 'Storm (first), 18 €']);
    const buttons = [...element.querySelectorAll('button')];
    buttons.at(-1)?.click();
    await expect
      .poll(() => shown.slice(3))
      .toEqual(['Storm (second), 20 € … (Buy is held)', 'Storm (second), 18 €']);
  } finally {
    clearInterval(observe);
  }
});
