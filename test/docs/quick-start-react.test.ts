/** The hook and the app of docs/start/quick-start-react.md in a page, where views arrive while it is shown. */
import { readFile } from 'node:fs/promises';
import { transform } from 'esbuild';
import { act, Component, createElement, Suspense, type ReactNode } from 'react';
import { afterEach, expect, test, vi } from 'vitest';
import { createClient, type Correctable, type CorrectableError, type Levels, type View } from '../../src/index.ts';
import { get } from '../../src/operations/index.ts';
import { scriptedBinding } from '../../src/testing/scripted-binding.ts';
import { openSmallPage } from '../support/small-page.ts';
import { loadCode } from './bundle.ts';

type Read = Correctable<unknown, Levels, string>;

const { window, createRoot } = await openSmallPage();
vi.stubGlobal('IS_REACT_ACT_ENVIRONMENT', true);

const page = await readFile(new URL('../../docs/start/quick-start-react.md', import.meta.url), 'utf8');
const [, article = ''] = /```ts\n([\s\S]*?)```/.exec(page) ?? [];
const [, hook = ''] = /```ts\n(import \{ use,[\s\S]*?)```/.exec(page) ?? [];
const [, jsx = ''] = /```\n(import \{ startTransition[\s\S]*?)```/.exec(page) ?? [];
const { code: app } = await transform(jsx.replaceAll(/^import .* from '\.\/.*';$/gm, ''), {
  loader: 'tsx',
  jsx: 'automatic',
});
const { App, useView } = await loadCode<{
  readonly App: () => ReactNode;
  readonly useView: (read: Read) => { view: View<unknown, Levels, string>; error: CorrectableError | undefined };
}>(`${article}${hook}${app}`, 'quick-start-react');

const roots: ReturnType<typeof createRoot>[] = [];
afterEach(async () => {
  vi.stubGlobal('IS_REACT_ACT_ENVIRONMENT', true);
  for (const root of roots.splice(0)) await act(async () => root.unmount());
});

function openPage(): { readonly root: ReturnType<typeof createRoot>; text(): string } {
  const element = window.document.createElement('div');
  window.document.body.append(element);
  // What a boundary has caught needs no report.
  const root = createRoot(element, { onCaughtError: () => {} });
  roots.push(root);
  return { root, text: () => element.textContent ?? '' };
}

function Shown({ read }: { readonly read: Read }): ReactNode {
  const { view, error } = useView(read);
  return `${String(view.value)} ${error?.code ?? (view.final ? 'final' : 'preliminary')}`;
}

class Boundary extends Component<{ readonly children: ReactNode }, { readonly error?: CorrectableError }> {
  override state: { readonly error?: CorrectableError } = {};
  static getDerivedStateFromError(error: CorrectableError): object {
    return { error };
  }
  override render(): ReactNode {
    return this.state.error === undefined ? this.props.children : `caught ${this.state.error.code}`;
  }
}

const show = (read: Read): ReactNode =>
  createElement(Boundary, null, createElement(Suspense, { fallback: 'loading' }, createElement(Shown, { read })));

async function openRead() {
  const binding = scriptedBinding(['weak', 'strong']);
  const read = createClient(binding).invoke(get('k'));
  return { read, call: await binding.next() };
}

test('useView: suspends until the first view, then shows every later one', async () => {
  const { read, call } = await openRead();
  const { root, text } = openPage();
  await act(async () => root.render(show(read)));
  expect(text()).toBe('loading');
  await act(async () => void call.view('old', 'weak'));
  expect(text()).toBe('old preliminary');
  await act(async () => void call.view('new', 'strong'));
  expect(text()).toBe('new final');
});

test('useView: a failure after a view → the view stays, with the error beside it', async () => {
  const { read, call } = await openRead();
  const { root, text } = openPage();
  await act(async () => void call.view('old', 'weak'));
  await act(async () => root.render(show(read)));
  await act(async () => call.fail(new Error('down')));
  expect(text()).toBe('old FINAL_FAILED');
});

test('useView: a failure before any view → the error boundary gets it', async () => {
  const { read, call } = await openRead();
  const { root, text } = openPage();
  await act(async () => root.render(show(read)));
  await act(async () => call.fail(new Error('down')));
  expect(text()).toBe('caught FINAL_FAILED');
});

test('useView: a component that unmounts → the read goes on', async () => {
  const { read, call } = await openRead();
  const { root } = openPage();
  await act(async () => root.render(show(read)));
  await act(async () => void call.view('old', 'weak'));
  await act(async () => root.unmount());
  expect(read.state).toBe('pending');
});

test('the app: shows loading and both views; a refresh keeps the old text until the new read has a view', async () => {
  vi.stubGlobal('IS_REACT_ACT_ENVIRONMENT', false);
  const { root, text } = openPage();
  const shown: string[] = [];
  const observe = setInterval(() => {
    const now = text().replace('Refresh', '').trim();
    if (now !== '' && now !== shown.at(-1)) shown.push(now);
  }, 1);
  try {
    root.render(createElement(App));
    await expect.poll(() => shown).toEqual(['loading', 'Storm nears (first) …', 'Storm passes (first)']);
    window.document.querySelector('button')?.click();
    await expect.poll(() => shown.slice(3)).toEqual(['Storm nears (second) …', 'Storm passes (second)']);
  } finally {
    clearInterval(observe);
  }
});
