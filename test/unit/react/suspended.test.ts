/**
 * How long a read lives while components are suspended on it. React does not report that it gave
 * one up.
 */
import { createElement as h, useTransition, useState, type ReactNode } from 'react';
import { expect, test, vi } from 'vitest';
import { createClient } from '../../../src/index.ts';
import { get } from '../../../src/operations/index.ts';
import { useCorrectable } from '../../../src/react/index.ts';
import { scriptedBinding } from '../../../src/testing/scripted-binding.ts';
import type { Stage } from '../../support/react/stage.ts';
import { openSmallPage } from '../../support/small-page.ts';

await openSmallPage();
const { LEVELS, openStage, Shown } = await import('../../support/react/stage.ts');

vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });

/** Lets React render. */
async function settle(): Promise<void> {
  for (let turn = 0; turn < 10; turn++) await new Promise((resolve) => void setImmediate(resolve));
}

async function pass(ms: number): Promise<void> {
  for (let step = 0; step < ms; step += 250) {
    await vi.advanceTimersByTimeAsync(250);
    await settle();
  }
}

/** Waits until the page has this text. React holds back what was suspended, by its own clock. */
async function shows(stage: Stage, text: string): Promise<void> {
  while (stage.text() !== text) await settle();
}

test('no view arrives → the error boundary gets TIMEOUT, after one request', async () => {
  const stage = openStage();
  stage.render(h(Shown, { stage, operation: get('a') }));
  await settle();
  await pass(29_500);
  expect(stage.text()).toBe('loading');
  await pass(500);
  await shows(stage, 'caught TIMEOUT');
  expect(stage.binding.calls.length).toBe(1);
  await stage.close();
});

test('until: strong, and a store that answers after 40 s → shows it, after one request', async () => {
  const stage = openStage();
  const binding = scriptedBinding(LEVELS);
  const client = createClient(binding, { timeoutMs: 60_000 });
  stage.render(h(Shown, { stage, operation: get('a'), until: 'strong' }), { client });
  const call = await binding.next();
  call.view(1, 'weak');
  await pass(40_000);
  expect(stage.text()).toBe('loading');
  call.view(2, 'strong');
  await shows(stage, '2 strong');
  expect(binding.calls.length).toBe(1);
  await stage.close();
});

test('a transition waits → the old view stays, and one request goes on', async () => {
  const stage = openStage();
  let go = (_key: string): void => {};
  const Page = (): ReactNode => {
    const [key, setKey] = useState('a');
    const [, startTransition] = useTransition();
    go = (next) => startTransition(() => setKey(next));
    return String(useCorrectable(get(key)).view.value);
  };
  stage.render(h(Page));
  (await stage.binding.next()).view('a', 'strong');
  await shows(stage, 'a');
  go('b');
  await settle();
  const b = await stage.binding.next();
  await pass(10_000);
  expect([stage.text(), b.context.signal.aborted]).toEqual(['a', false]);
  b.view('b', 'strong');
  await shows(stage, 'b');
  expect(stage.binding.calls.length).toBe(2);
  await stage.close();
});

test('components are abandoned while suspended → their requests are canceled within 2 s, others go on', async () => {
  const stage = openStage();
  for (let key = 0; key < 20; key++) {
    stage.render(h(Shown, { key, stage, operation: get(`k${key}`) }));
    await settle();
  }
  await pass(2_250);
  expect(stage.binding.calls.map(({ context }) => context.signal.aborted)).toEqual([
    ...Array(19).fill(true),
    false,
  ]);
  await pass(5_000);
  stage.binding.calls[19]?.view(1, 'weak');
  await shows(stage, '1 weak…');
  expect(stage.binding.calls.length).toBe(20);
  await stage.close();
});
