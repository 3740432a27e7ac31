/** Scenarios of `useCorrectable`. */
import * as React from 'react';
import { createElement as h, Suspense, useState, type ReactNode } from 'react';
import { createClient } from '../../../src/index.ts';
import { get, put } from '../../../src/operations/index.ts';
import { dehydrate, prefetch, useCorrectable, usePrefetch } from '../../../src/react/index.ts';
import { scriptedBinding } from '../../../src/testing/scripted-binding.ts';
import { idle, LEVELS, same, Shown, strict, until, useLog, type Stage } from './stage.ts';

export type Scenario = (stage: Stage) => Promise<void>;

const A = get('a');

/** `React.Activity`, which React 18 does not have. */
const Activity = Reflect.get(React, 'Activity') as
  | React.ComponentType<{ readonly mode: 'visible' | 'hidden'; readonly children: ReactNode }>
  | undefined;

export const reading: Readonly<Record<string, Scenario>> = {
  async 'a component mounts → suspends until the first view, then shows each'(stage) {
    stage.render(h(Shown, { stage, operation: A }));
    await stage.shows('loading');
    const call = await stage.binding.next();
    same(call.levels, ['weak', 'causal', 'strong']);
    call.view(1, 'weak');
    await stage.shows('1 weak…');
    call.view(2, 'strong');
    await stage.shows('2 strong');
    same([stage.log, stage.binding.calls.length], [['1 weak…', '2 strong'], 1]);
  },

  async 'many components ask for an equal operation, in StrictMode → one request'(stage) {
    const item = (key: number): ReactNode =>
      h(Shown, { key, stage, operation: { ...A, args: { key: 'a' } } });
    stage.render(strict([1, 2, 3].map(item)));
    const call = await stage.binding.next();
    call.view(1, 'weak');
    await stage.shows('1 weak…1 weak…1 weak…');
    call.view(1, 'strong');
    await stage.shows('1 strong1 strong1 strong');
    same(stage.binding.calls.length, 1);
  },

  async 'a final view confirms → a component that uses only the value does not render again'(
    stage,
  ) {
    let renders = 0;
    const Value = (): ReactNode => {
      renders++;
      return String(useCorrectable(A).value);
    };
    stage.render([h(Value, { key: 'value' }), h(Shown, { key: 'view', stage, operation: A })]);
    const call = await stage.binding.next();
    call.view(1, 'weak');
    await stage.shows('11 weak…');
    // React may render a tree several times before it is on the page, for example if another root
    // on the page interrupts it.
    const before = renders;
    call.confirm('strong', 0);
    await stage.shows('11 strong');
    same(renders, before);
  },

  async 'null → asks for nothing, until there is an operation'(stage) {
    stage.render(h(Shown, { stage, operation: null }));
    await stage.shows('nothing');
    same(stage.binding.calls.length, 0);
    stage.render(h(Shown, { stage, operation: A }));
    (await stage.binding.next()).view(1, 'strong');
    await stage.shows('1 strong');
  },

  async 'the last component leaves → the read is canceled, no sooner'(stage) {
    const show = (count: number): void =>
      stage.render(
        Array.from({ length: count }, (_, key) => h(Shown, { key, stage, operation: A })),
      );
    show(2);
    const { context, view } = await stage.binding.next();
    view(1, 'weak');
    await stage.shows('1 weak…1 weak…');
    show(1);
    await stage.shows('1 weak…');
    await idle();
    same(context.signal.aborted, false);
    show(0);
    await until(() => context.signal.aborted);
  },

  async 'a component comes back → shows the kept view, and asks only for what is stronger'(stage) {
    stage.render(h(Shown, { stage, operation: A }));
    const first = await stage.binding.next();
    first.view(1, 'weak');
    await stage.shows('1 weak…');
    stage.unmount();
    await until(() => first.context.signal.aborted);
    stage.render(h(Shown, { stage, operation: A }));
    const second = await stage.binding.next();
    await stage.shows('1 weak…');
    same(second.levels, ['causal', 'strong']);
    second.view(2, 'strong');
    await stage.shows('2 strong');
    stage.unmount();
    await stage.shows('');
    stage.render(h(Shown, { stage, operation: A }));
    await stage.shows('2 strong');
    await idle();
    same([stage.log, stage.binding.calls.length], [['1 weak…', '2 strong'], 2]);
  },

  async 'a component comes back after keepMs → asks again'(stage) {
    stage.render(h(Shown, { stage, operation: A, keepMs: 0 }));
    (await stage.binding.next()).view(1, 'strong');
    await stage.shows('1 strong');
    stage.unmount();
    await until(() => dehydrate(stage.client).length === 0);
    stage.render(h(Shown, { stage, operation: A, keepMs: 0 }));
    const second = await stage.binding.next();
    await stage.shows('loading');
    same(second.levels, ['weak', 'causal', 'strong']);
  },

  async 'fast navigation → shows the page that is open, and cancels what was left'(stage) {
    const open = (key: string): void => stage.render(h(Shown, { key, stage, operation: get(key) }));
    open('a');
    const a = await stage.binding.next();
    a.view('a', 'weak');
    await stage.shows('"a" weak…');
    open('b');
    const b = await stage.binding.next();
    open('c');
    const c = await stage.binding.next();
    // Before the request counts as left, which it does after a time.
    b.view('b', 'strong');
    c.view('c', 'weak');
    await stage.shows('"c" weak…');
    await until(() => a.context.signal.aborted);
    open('a');
    (await stage.binding.next()).view('A', 'strong');
    await stage.shows('"A" strong');
    open('b');
    await stage.shows('"b" strong');
    same(stage.log, ['"a" weak…', '"c" weak…', '"a" weak…', '"A" strong', '"b" strong']);
    same(stage.binding.calls.length, 4);
  },

  async 'until: a level → suspends until a view has it, while others show weaker ones'(stage) {
    const inside = h(
      Suspense,
      { key: 's', fallback: 'wait' },
      h(Shown, { stage, operation: A, until: 'causal' }),
    );
    stage.render([h(Shown, { key: 'w', stage, operation: A }), inside]);
    const call = await stage.binding.next();
    call.view(1, 'weak');
    await stage.shows('1 weak…wait');
    call.view(2, 'causal');
    await stage.shows('2 causal…2 causal…');
    call.view(3, 'strong');
    await stage.shows('3 strong3 strong');
    same(stage.binding.calls.length, 1);
  },

  async 'until: a level that the operation does not have → shows the final view'(stage) {
    stage.render(h(Shown, { stage, operation: A, until: 'strong' }));
    (await stage.binding.next()).view(1, 'causal', { final: true });
    await stage.shows('1 causal');
  },

  async 'suspend: false → renders without a view until the first one, never the fallback'(stage) {
    const inside = h(Shown, { key: 'c', stage, operation: A, until: 'causal', suspend: false });
    stage.render(
      strict([h(Shown, { key: 'w', stage, operation: A, suspend: false }), ' ', inside]),
    );
    await stage.shows('nothing… nothing…');
    const call = await stage.binding.next();
    call.view(1, 'weak');
    await stage.shows('1 weak… nothing…');
    call.view(2, 'strong');
    await stage.shows('2 strong 2 strong');
    stage.unmount();
    await stage.shows('');
    stage.render(h(Shown, { stage, operation: A, suspend: false }));
    await stage.shows('2 strong');
    same([stage.log.includes('loading'), stage.binding.calls.length], [false, 1]);
  },

  async 'suspend: false, and a failure before any view → the component gets the error, and asks again by refresh'(
    stage,
  ) {
    let refresh = (): void => {};
    const Refreshed = (): ReactNode => {
      const { view, error, pending, ...other } = useCorrectable(A, { suspend: false });
      refresh = other.refresh;
      return `${view ? view.level : 'none'} ${error?.code ?? 'fine'} ${pending ? 'pending' : 'done'}`;
    };
    stage.render(h(Refreshed));
    await stage.shows('none fine pending');
    (await stage.binding.next()).fail(new Error('down'));
    await stage.shows('none FINAL_FAILED done');
    await idle();
    same(stage.binding.calls.length, 1);
    refresh();
    const again = await stage.binding.next();
    await stage.shows('none FINAL_FAILED pending');
    again.view(1, 'strong');
    await stage.shows('strong fine done');
  },

  async 'a failure before any view → the error boundary gets it, and its reset asks again'(stage) {
    stage.render([
      h(Shown, { key: 1, stage, operation: A }),
      h(Shown, { key: 2, stage, operation: A }),
    ]);
    (await stage.binding.next()).fail(new Error('down'));
    await stage.shows('caught FINAL_FAILED');
    await idle();
    same(stage.binding.calls.length, 1);
    await until(() => {
      stage.element.querySelector('button')?.click();
      return stage.binding.calls.length === 2;
    });
    (await stage.binding.next()).view(1, 'strong');
    await stage.shows('1 strong1 strong');
  },

  async 'a failure after a view → the view stays, with the error beside it'(stage) {
    let refresh = (): void => {};
    const Refreshed = (): ReactNode => {
      const { value, error, pending, ...other } = useCorrectable(A);
      refresh = other.refresh;
      return `${String(value)} ${error?.code ?? 'fine'} ${pending ? 'pending' : 'done'}`;
    };
    stage.render(h(Refreshed));
    const call = await stage.binding.next();
    call.view(1, 'weak');
    await stage.shows('1 fine pending');
    call.fail(new Error('down'));
    await stage.shows('1 FINAL_FAILED done');
    refresh();
    const again = await stage.binding.next();
    same(again.levels, ['causal', 'strong']);
    await stage.shows('1 FINAL_FAILED pending');
    again.view(1, 'strong');
    await stage.shows('1 fine done');
  },

  async 'refresh → the final view stays until the next one, at the strongest level'(stage) {
    let refresh = (): void => {};
    const Refreshed = (): ReactNode => {
      const { value, confirmed, pending, ...other } = useCorrectable<typeof A>(A);
      refresh = other.refresh;
      const text = `${JSON.stringify(value)} ${confirmed ? 'confirmed' : 'new'}${pending ? '…' : ''}`;
      useLog(stage, text);
      return text;
    };
    stage.render(h(Refreshed));
    (await stage.binding.next()).view([1], 'strong');
    await stage.shows('[1] new');
    refresh();
    refresh();
    const second = await stage.binding.next();
    await stage.shows('[1] new…');
    same(second.levels, ['strong']);
    second.view([1], 'strong');
    await stage.shows('[1] confirmed');
    refresh();
    await stage.shows('[1] confirmed…');
    (await stage.binding.next()).view([2], 'strong');
    await stage.shows('[2] new');
    same(stage.log, ['[1] new', '[1] new…', '[1] confirmed', '[1] confirmed…', '[2] new']);
    same(stage.binding.calls.length, 3);
  },

  async 'the store is back → what is on the page asks again, until the provider leaves'(stage) {
    const listeners = new Set<() => void>();
    const onReconnect = (listener: () => void): (() => void) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    };
    const binding = Object.assign(scriptedBinding(LEVELS), { onReconnect });
    const client = createClient(binding);
    stage.render(h(Shown, { stage, operation: A }), { client, refreshOn: ['reconnect'] });
    (await binding.next()).view(1, 'strong');
    await stage.shows('1 strong');
    await idle();
    for (const listener of listeners) listener();
    (await binding.next()).view(2, 'strong');
    await stage.shows('2 strong');
    stage.render(h(Shown, { stage, operation: A }), { client });
    await until(() => listeners.size === 0);
    await client.close();
  },

  async 'a transition to another operation → the old view stays until the first new one'(stage) {
    let go = (_key: string): void => {};
    const Page = (): ReactNode => {
      const [key, setKey] = useState('a');
      const [isPending, startTransition] = React.useTransition();
      go = (next) => startTransition(() => setKey(next));
      const { value, level } = useCorrectable(get(key));
      const text = `${String(value)} ${level}${isPending ? ' moving' : ''}`;
      useLog(stage, text);
      return text;
    };
    stage.render(h(Page));
    (await stage.binding.next()).view('a', 'strong');
    await stage.shows('a strong');
    go('b');
    const b = await stage.binding.next();
    await stage.shows('a strong moving');
    b.view('b', 'weak');
    await stage.shows('b weak');
    b.view('B', 'strong');
    await stage.shows('B strong');
    same(stage.log, ['a strong', 'a strong moving', 'b weak', 'B strong']);
  },

  async 'useDeferredValue → the old results stay until the first new ones'(stage) {
    let type = (_query: string): void => {};
    const Results = React.memo(({ query }: { readonly query: string }): ReactNode => {
      const { value } = useCorrectable(get(query));
      return ` ${String(value)}`;
    });
    const Search = (): ReactNode => {
      const [query, setQuery] = useState('a');
      type = setQuery;
      return [query, h(Results, { key: 'r', query: React.useDeferredValue(query) })];
    };
    stage.render(h(Search));
    (await stage.binding.next()).view('for a', 'strong');
    await stage.shows('a for a');
    type('b');
    const b = await stage.binding.next();
    await stage.shows('b for a');
    b.view('for b', 'weak');
    await stage.shows('b for b');
  },

  async 'Activity hides a component → cancels; shows it → the kept view, asking only for what is stronger'(
    stage,
  ) {
    if (!Activity) return;
    const show = (mode: 'visible' | 'hidden'): void =>
      stage.render([
        h(Activity, { key: 'a', mode, children: h(Shown, { stage, operation: A, keepMs: 0 }) }),
        ` ${mode}`,
      ]);
    show('visible');
    const first = await stage.binding.next();
    first.view(1, 'weak');
    await stage.shows('1 weak… visible');
    show('hidden');
    await until(() => first.context.signal.aborted);
    await until(() => dehydrate(stage.client).length === 0);
    show('visible');
    const second = await stage.binding.next();
    await stage.shows('1 weak… visible');
    second.view(2, 'strong');
    await stage.shows('2 strong visible');
    same(stage.log, ['1 weak…', '2 strong']);
  },

  async 'prefetch → the component shows its views without a second request'(stage) {
    let hover = (): void => {};
    const Link = (): ReactNode => {
      const prefetchRead = usePrefetch();
      hover = () => void prefetchRead(A);
      return 'link';
    };
    stage.render(h(Link));
    await stage.shows('link');
    hover();
    const call = await stage.binding.next();
    call.view(1, 'weak');
    await prefetch(stage.client, A);
    stage.render(h(Shown, { stage, operation: A }));
    await stage.shows('1 weak…');
    call.view(2, 'strong');
    await stage.shows('2 strong');
    same(stage.binding.calls.length, 1);
  },

  async 'a prefetch fails → the component asks again'(stage) {
    const fetched = prefetch(stage.client, A, { until: 'strong' });
    const call = await stage.binding.next();
    call.fail(new Error('down'));
    await fetched;
    stage.render(h(Shown, { stage, operation: A }));
    (await stage.binding.next()).view(1, 'strong');
    await stage.shows('1 strong');
  },

  async 'sessions → each has reads of its own'(stage) {
    const session = stage.client.session();
    stage.render(h(Shown, { stage, operation: A }));
    (await stage.binding.next()).view(1, 'strong');
    await stage.shows('1 strong');
    stage.render(h(Shown, { stage, operation: A }), { session });
    const call = await stage.binding.next();
    same(call.context.session !== undefined, true);
    call.view(2, 'strong');
    await stage.shows('2 strong');
  },

  async 'wrong use → an error that names the fix'(stage) {
    for (const [props, expected] of [
      [{ operation: put('a', 1) }, 'caught INVALID_ARGUMENT'],
      [{ operation: A, until: 'stronger' as 'strong' }, 'caught UNKNOWN_LEVEL'],
    ] as const) {
      stage.render(h(Shown, { stage, ...props, key: expected }));
      await stage.shows(expected);
      stage.element.querySelector('button')?.click();
      stage.render(null);
      await stage.shows('');
    }
    stage.render(h(Shown, { stage, operation: A }), { client: undefined as never });
    await stage.shows('caught INVALID_ARGUMENT');
  },
};
