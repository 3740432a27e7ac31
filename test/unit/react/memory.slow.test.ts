/** What is left of components that have come and gone: nothing. */
import { createElement, Suspense, type ReactNode } from 'react';
import { expect, test, vi } from 'vitest';
import { createClient } from '../../../src/index.ts';
import { get } from '../../../src/operations/index.ts';
import { dehydrate, useCorrectable } from '../../../src/react/index.ts';
import { scriptedBinding, type ScriptedCall } from '../../../src/testing/scripted-binding.ts';
import { collectGarbage } from '../../support/garbage.ts';
import { openSmallPage } from '../../support/small-page.ts';

const { window, createRoot } = await openSmallPage();
const { flushSync } = await import('react-dom');

const MOUNTS = 10_000;
/** So many components are on the page at a time. */
const AT_ONCE = 500;
/**
 * After this time, in milliseconds, a read that a render has begun and no component has mounted is
 * dropped.
 */
const EXPIRED_MS = 30_000;

vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });

test('10^4 components mount and unmount → no read, request or view of them is left', async () => {
  const operations: WeakRef<object>[] = [];
  const submitted: WeakRef<object>[] = [];
  const binding = scriptedBinding(['weak', 'strong'], { onCall: answer });
  const client = createClient(binding);
  const views: WeakRef<object>[] = [];

  /** A third stays without a view, a third has a preliminary one, and a third the final one. */
  function answer(call: ScriptedCall): void {
    const n = submitted.push(new WeakRef(call));
    const value = { n };
    views.push(new WeakRef(value));
    if (n % 3 !== 0) call.view(value, 'weak');
    if (n % 3 === 1) call.view(value, 'strong');
  }

  function Shown({ n }: { readonly n: number }): ReactNode {
    const operation = get<{ n: number }>(`k${n}`);
    operations.push(new WeakRef(operation));
    return useCorrectable(operation, { client, keepMs: 0, suspend: n % 2 === 0 }).level;
  }

  const element = window.document.createElement('div');
  const root = createRoot(element);
  const show = (from: number, to: number): void => {
    const items = Array.from({ length: to - from }, (_, at) =>
      createElement(Suspense, { key: from + at }, createElement(Shown, { n: from + at })),
    );
    flushSync(() => root.render(items));
  };
  for (let from = 0; from < MOUNTS; from += AT_ONCE) {
    show(from, from + AT_ONCE);
    await expect.poll(() => binding.calls.length).toBe(AT_ONCE);
    show(0, 0);
    await vi.advanceTimersByTimeAsync(EXPIRED_MS);
    (binding.calls as ScriptedCall[]).length = 0;
  }
  expect(submitted.length).toBe(MOUNTS);
  expect(dehydrate(client)).toEqual([]);
  root.unmount();
  await expect
    .poll(() => {
      collectGarbage();
      return [...operations, ...submitted, ...views].filter((ref) => ref.deref()).length;
    })
    .toBeLessThan(5);
  await client.close();
});
