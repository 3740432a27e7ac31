/** The hook of docs/guides/user-interfaces.md in a page, where views come while it is shown. */
import { act, createElement, type ReactNode } from 'react';
import { expect, test, vi } from 'vitest';
import type {
  Correctable,
  createClient as CreateClient,
  Levels,
  Snapshot,
} from '../../src/index.ts';
import { get } from '../../src/operations/index.ts';
import { scriptedBinding } from '../../src/testing/scripted-binding.ts';
import { openSmallPage } from '../support/small-page.ts';
import { loadCode } from './bundle.ts';
import { readPage } from './guide.ts';

const { window, createRoot } = await openSmallPage();
vi.stubGlobal('IS_REACT_ACT_ENVIRONMENT', true);

// The page prints.
vi.spyOn(console, 'log').mockImplementation(() => {});
const { program } = await readPage('guides/user-interfaces');
const { createClient, useCorrectable } = await loadCode<{
  readonly createClient: typeof CreateClient;
  readonly useCorrectable: (
    from: Correctable<unknown, Levels, string>,
  ) => Snapshot<unknown, Levels, string>;
}>(`${program}\nexport { createClient };`, 'rendering');
vi.restoreAllMocks();

test('a component → is drawn at each view, not otherwise, and leaves when it goes', async () => {
  const generated: string[] = [];
  function Shown({ from }: { readonly from: Correctable<unknown, Levels, string> }): ReactNode {
    const { state, latest } = useCorrectable(from);
    generated.push(`${String(latest?.value)} ${state}`);
    return null;
  }
  const binding = scriptedBinding(['weak', 'strong']);
  const read = createClient(binding).invoke(get('k'));
  const call = await binding.next();
  const root = createRoot(window.document.createElement('div'));
  await act(() => root.render(createElement(Shown, { from: read })));
  await act(() => root.render(createElement(Shown, { from: read })));
  expect(generated).toEqual(['undefined pending', 'undefined pending']);
  await act(async () => void call.view('old', 'weak'));
  await act(async () => void call.view('new', 'strong'));
  expect(generated.slice(2)).toEqual(['old pending', 'new final']);
  await act(() => root.unmount());
  expect(read.state).toBe('final');
});

test('a component that goes, and a failure → the operation goes on; the failure is drawn', async () => {
  let codes: (string | undefined)[] = [];
  function Shown({ from }: { readonly from: Correctable<unknown, Levels, string> }): ReactNode {
    codes.push(useCorrectable(from).error?.code);
    return null;
  }
  const binding = scriptedBinding(['weak', 'strong']);
  const read = createClient(binding).invoke(get('k'));
  const call = await binding.next();
  const [gone, here] = [0, 1].map(() => createRoot(window.document.createElement('div')));
  await act(() => gone?.render(createElement(Shown, { from: read })));
  await act(() => gone?.unmount());
  expect(read.state).toBe('pending');
  await act(() => here?.render(createElement(Shown, { from: read })));
  codes = [];
  await act(async () => call.fail(new Error('down')));
  expect(codes).toEqual(['FINAL_FAILED']);
});
