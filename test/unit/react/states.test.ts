/**
 * The table of docs/spec/react.md, run through cell by cell, and the scenarios that the page names.
 */
import { readFileSync } from 'node:fs';
import { createElement as h, type ReactNode } from 'react';
import { expect, onTestFinished, test, vi } from 'vitest';
import { get, put } from '../../../src/operations/index.ts';
import { useCorrectable, useOperation } from '../../../src/react/index.ts';
import type { ScriptedCall } from '../../../src/testing/scripted-binding.ts';
import { openSmallPage } from '../../support/small-page.ts';
import { readStateTable } from '../../support/state-table.ts';

await openSmallPage();
const { idle, openStage } = await import('../../support/react/stage.ts');
const { SCENARIOS } = await import('../../support/react/scenarios.ts');

const A = get('k');

function openRead() {
  const stage = openStage();
  const page: { refresh: () => void; write: () => unknown } = {
    refresh: () => {},
    write: () => {},
  };
  /** One component shows the read, `others` ask for an equal one. */
  const Page = ({ others }: { readonly others: number }): ReactNode => {
    const [run] = useOperation(() => put('k', 'new'));
    page.write = run;
    return Array.from({ length: others }, (_, key) => h(Other, { key }));
  };
  const Other = (): ReactNode => {
    useCorrectable(A);
    return null;
  };
  const Shown = (): ReactNode => {
    const { level, pending, confirmed, error, refresh } = useCorrectable<typeof A>(A);
    page.refresh = refresh;
    return [`${level}${pending ? '…' : ''}`, confirmed && ' confirmed', error && ' failed'];
  };
  const show = (components: number): void =>
    stage.render([
      h(Page, { key: 'page', others: Math.max(0, components - 1) }),
      components > 0 && h(Shown, { key: 'shown' }),
    ]);
  show(1);
  return { ...stage, page, show, text: () => stage.text() || 'nothing' };
}

type Read = ReturnType<typeof openRead>;

/** Returns a function that shows the first view of a read, and returns its call. */
const showFirst =
  (level: 'weak' | 'strong', text: string) =>
  async ({ binding, shows }: Read): Promise<ScriptedCall> => {
    const call = await binding.next();
    call.view('old', level, { version: 5 });
    await shows(text);
    return call;
  };

const showPreliminary = showFirst('weak', 'weak…');
const showFinal = showFirst('strong', 'strong');

/** Brings a read into a state; returns its latest call. */
const STATES: Readonly<Record<string, (read: Read) => Promise<ScriptedCall>>> = {
  'no view': ({ binding }) => binding.next(),
  'preliminary view': showPreliminary,
  async 'preliminary view, failed'(read) {
    const call = await showPreliminary(read);
    call.fail(new Error('down'));
    await read.shows('weak failed');
    return call;
  },
  'final view': showFinal,
  async 'final view, asking again'(read) {
    await showFinal(read);
    await idle();
    read.page.refresh();
    return read.binding.next();
  },
};

const EVENTS: Readonly<Record<string, (call: ScriptedCall, read: Read) => unknown>> = {
  'preliminary view': (call) => call.view('new', 'causal', { version: 6 }),
  'preliminary view, older version': (call) => call.view('new', 'causal', { version: 1 }),
  'final view': (call) => call.view('new', 'strong', { version: 6 }),
  'final view of an equal value': (call) => call.view('old', 'strong', { version: 6 }),
  failure: (call) => call.fail(new Error('down')),
  refresh: (_call, { page }) => page.refresh(),
  'an equal read mounts': (_call, { show }) => show(2),
  async 'a write to its key has its final'(_call, { page, binding }) {
    page.write();
    (await binding.next()).view(null, 'strong');
  },
  'the last component unmounts': (_call, { show }) => show(0),
};

const readsOf = ({ binding }: Read): readonly ScriptedCall[] =>
  binding.calls.filter(({ operation }) => operation.access === 'read');

// Each has a page of its own. React waits a while before it shows what was suspended.
test.concurrent.for(readStateTable('react'))(
  '$state, $event → $outcome',
  async ({ state, event, outcome }, { expect: expectHere }) => {
    const read = openRead();
    const call = await STATES[state]!(read);
    await idle();
    const { signal } = call.context;
    const [wasAborted, count] = [signal.aborted, readsOf(read).length];
    await EVENTS[event]!(call, read);
    const see = (): string => {
      const text = read.text().startsWith('caught') ? 'caught' : read.text();
      const isCanceled = signal.aborted && !wasAborted;
      return [
        text,
        ...(isCanceled ? ['cancels'] : []),
        ...(readsOf(read).length > count ? ['asks'] : []),
      ].join(' ');
    };
    await expectHere.poll(see).toBe(outcome);
    await idle();
    expectHere(see()).toBe(outcome);
    await read.close();
  },
);

test('the page names scenarios that there are', () => {
  const page = readFileSync(new URL('../../../docs/spec/react.md', import.meta.url), 'utf8');
  const named = [...page.matchAll(/\| "(.+)" \|$/gm)].map(([, name = '']) => name);
  expect(named.filter((name) => SCENARIOS[name] === undefined)).toEqual([]);
  expect(named.length).toBeGreaterThan(25);
});

test('a platform without events, as React Native → refreshOn does not keep the page from being shown', async () => {
  const whole = addEventListener;
  vi.stubGlobal('addEventListener', undefined);
  onTestFinished(() => void vi.stubGlobal('addEventListener', whole));
  const { binding, render, shows, close } = openStage();
  render(
    h(() => useCorrectable(A).level),
    { refreshOn: ['focus', 'reconnect'] },
  );
  (await binding.next()).view('new', 'strong');
  await shows('strong');
  await close();
});
