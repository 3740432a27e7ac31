/** How long a read is kept that no component uses any more. */
import { createElement as h, type ReactNode } from 'react';
import { expect, test, vi } from 'vitest';
import { get, put } from '../../../src/operations/index.ts';
import { useOperation } from '../../../src/react/index.ts';
import type { ScriptedCall } from '../../../src/testing/scripted-binding.ts';
import type { Stage } from '../../support/react/stage.ts';
import { openSmallPage } from '../../support/small-page.ts';

await openSmallPage();
const { openStage, Shown } = await import('../../support/react/stage.ts');

vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });

const HOUR_MS = 3_600_000;

/** Lets React render. */
async function settle(): Promise<void> {
  for (let turn = 0; turn < 10; turn++) await new Promise((resolve) => void setImmediate(resolve));
}

/** A page with a component that writes, and, if it is shown, a component that reads. */
function openPage(stage: Stage, keepMs: number | undefined) {
  let write = (_value: number): unknown => undefined;
  const Writer = (): ReactNode => {
    [write] = useOperation((value: number) => put('k', value), {
      affects: (affect, value) => affect(get<number>('k'), () => value),
    });
    return null;
  };
  const show = async (isShown: boolean): Promise<void> => {
    stage.render([
      h(Writer, { key: 'writer' }),
      isShown && h(Shown, { key: 'reader', stage, operation: get('k'), suspend: false, keepMs }),
    ]);
    await settle();
  };
  return { show, write: (value: number) => write(value) };
}

/** Shows a final view, and removes its component while a write that affects it is in flight. */
async function leaveWhileWriting(keepMs: number | undefined): Promise<{
  readonly stage: Stage;
  readonly show: (isShown: boolean) => Promise<void>;
  readonly put: ScriptedCall;
}> {
  const stage = openStage();
  const { show, write } = openPage(stage, keepMs);
  await show(true);
  stage.binding.calls[0]!.view(1, 'strong');
  await settle();
  write(2);
  await settle();
  expect(stage.text()).toBe('2 optimistic…');
  await show(false);
  return { stage, show, put: stage.binding.calls[1]! };
}

for (const keepMs of [30 * 24 * HOUR_MS, Infinity]) {
  test(`keepMs is ${keepMs} → a component that comes back after 29 days shows the view, and nothing is requested`, async () => {
    const stage = openStage();
    const { show } = openPage(stage, keepMs);
    await show(true);
    stage.binding.calls[0]!.view(1, 'strong');
    await show(false);
    await vi.advanceTimersByTimeAsync(29 * 24 * HOUR_MS);
    await show(true);
    expect([stage.text(), stage.binding.calls.length]).toEqual(['1 strong', 1]);
    await stage.close();
  });
}

test('keepMs is 0, and a write is in flight → no timer runs until its end', async () => {
  const { stage, put: call } = await leaveWhileWriting(0);
  await vi.advanceTimersByTimeAsync(1);
  const set = vi.spyOn(globalThis, 'setTimeout');
  await vi.advanceTimersByTimeAsync(10_000);
  expect(set).not.toHaveBeenCalled();
  set.mockRestore();
  call.view(null, 'strong');
  await stage.close();
});

test('keepMs has passed while a write is in flight → a component that comes back shows its change, until the end', async () => {
  const { stage, show, put: call } = await leaveWhileWriting(0);
  await vi.advanceTimersByTimeAsync(10_000);
  await show(true);
  expect(stage.text()).toBe('2 optimistic…');
  await show(false);
  await vi.advanceTimersByTimeAsync(1);
  call.view(null, 'strong');
  await settle();
  await show(true);
  expect(stage.text()).toBe('nothing…');
  await stage.close();
});

for (const [outcome, end] of [
  ['is unknown', (call: ScriptedCall) => call.fail(new Error('the connection ended'))],
  ['has its final view', (call: ScriptedCall) => call.view(null, 'strong')],
] as const) {
  test(`a write ${outcome} after its reader has left → the read is dropped after keepMs`, async () => {
    const { stage, show, put: call } = await leaveWhileWriting(undefined);
    end(call);
    await vi.advanceTimersByTimeAsync(30_000);
    await show(true);
    expect([stage.text(), stage.binding.calls.length]).toEqual(['nothing…', 3]);
    await stage.close();
  });
}
