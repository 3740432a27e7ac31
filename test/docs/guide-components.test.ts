/** The components of the guides to React and to TanStack Query, rendered in a page. */
import { transform } from 'esbuild';
import { createElement, StrictMode, type ReactNode } from 'react';
import { expect, test } from 'vitest';
import { correctable } from '../../src/index.ts';
import { openSmallPage } from '../support/small-page.ts';
import { loadCode } from './bundle.ts';
import { readPage } from './guide.ts';

const { window, createRoot } = await openSmallPage();

interface Components {
  readonly App: () => ReactNode;
  readonly StreamedStock: (properties: { readonly views: AsyncIterable<unknown> }) => ReactNode;
}

async function loadComponents(name: string): Promise<Components> {
  const { plain } = await readPage(`guides/${name}`);
  const { code } = await transform(plain.join('\n'), { loader: 'tsx', jsx: 'automatic' });
  return loadCode(code, name);
}

test.each(['react', 'tanstack-query'])(
  '%s → shows loading, the early view and the final one',
  async (name) => {
    const { App } = await loadComponents(name);
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
  },
);

test('react, views from a server component → shows each when it arrives, under StrictMode too', async () => {
  const { StreamedStock } = await loadComponents('react');
  const { correctable: read, sink } = correctable(['cache', 'origin']).withSink<number>();
  const views = { [Symbol.asyncIterator]: () => read[Symbol.asyncIterator]() };
  const element = window.document.createElement('div');
  const root = createRoot(element);
  root.render(createElement(StrictMode, null, createElement(StreamedStock, { views })));
  await expect.poll(() => element.textContent).toBe('loading');
  sink.view(12, 'cache');
  await expect.poll(() => element.textContent).toBe('12 left …');
  sink.view(11, 'origin');
  await expect.poll(() => element.textContent).toBe('11 left ');
  root.unmount();
  await new Promise((resolve) => setImmediate(resolve));
});
