/** The table of docs/spec/tanstack-query.md, run through cell by cell. */
import { QueryClient, QueryObserver } from '@tanstack/query-core';
import * as oldest from 'query-core-oldest';
import { describe, expect, test } from 'vitest';
import { createClient } from '../../../src/index.ts';
import { get } from '../../../src/operations/index.ts';
import { correctableQuery } from '../../../src/tanstack-query/index.ts';
import { scriptedBinding } from '../../../src/testing/scripted-binding.ts';
import { readStateTable, type Cell } from '../../support/state-table.ts';

const current = { QueryClient, QueryObserver };
/** The current version of TanStack Query, and the oldest of the peer range. */
const VERSIONS: Readonly<Record<string, typeof current>> = {
  current,
  oldest: oldest as unknown as typeof current,
};

function open({ QueryClient, QueryObserver }: typeof current = current) {
  const binding = scriptedBinding(['weak', 'causal', 'strong']);
  const options = correctableQuery(createClient(binding), get('k'));
  const queryClient = new QueryClient({ defaultOptions: { queries: { retry: false } } });
  const mount = (): (() => void) => new QueryObserver(queryClient, options).subscribe(() => {});
  return { binding, options, queryClient, mount, unmount: mount() };
}

type Query = ReturnType<typeof open>;
type Call = Awaited<ReturnType<Query['binding']['next']>>;

/** Brings a new query into a state; returns the call that it waits for. */
const STATES: Readonly<Record<string, (query: Query) => Promise<Call>>> = {
  'no data, fetching': ({ binding }) => binding.next(),
  async 'preliminary, fetching'({ binding }) {
    const call = await binding.next();
    call.view('old', 'weak', { version: 5 });
    return call;
  },
  async 'final, fetching again'({ binding, queryClient, options }) {
    (await binding.next()).view('old', 'strong', { version: 5 });
    await settled();
    void queryClient.refetchQueries(options);
    return binding.next();
  },
};

const EVENTS: Readonly<Record<string, (call: Call, query: Query) => unknown>> = {
  'preliminary view': (call) => call.view('new', 'causal', { version: 6 }),
  'preliminary view, older version': (call) => call.view('new', 'causal', { version: 1 }),
  'final view': (call) => call.view('new', 'strong', { version: 6 }),
  failure: (call) => call.fail(new Error('down')),
  'the last component unmounts': (_call, { unmount }) => unmount(),
  'another component mounts': (_call, { mount }) => mount(),
};

const settled = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 0));

describe.each(Object.entries(VERSIONS))('%s version', (_, version) => {
  test.each(readStateTable('tanstack-query'))('$state, $event → $outcome', (cell) =>
    runCell(version, cell),
  );

  test('an optimistic change after cancelQueries → on top of the early view, which stays', async () => {
    const { binding, options, queryClient, unmount } = open(version);
    (await binding.next()).view(12, 'weak');
    await settled();
    await queryClient.cancelQueries({ queryKey: options.queryKey });
    queryClient.setQueryData(
      options.queryKey,
      (view) => view && { ...view, value: 11, final: false },
    );
    const { data, status } = queryClient.getQueryState(options.queryKey)!;
    expect([data?.value, status]).toEqual([11, 'success']);
    unmount();
    queryClient.clear();
  });

  test('refetched while the final view is shown → the page shows each final view, and nothing between', async () => {
    const { binding, options, queryClient, unmount } = open(version);
    const shown: unknown[] = [];
    queryClient.getQueryCache().subscribe(({ query }) => {
      const value = (query.state.data as { value?: unknown } | undefined)?.value;
      if (shown.at(-1) !== value) shown.push(value);
    });
    const answer = async (final: number): Promise<void> => {
      const call = await binding.next();
      call.view(12, 'weak');
      call.view(12, 'causal');
      await settled();
      call.view(final, 'strong');
      await settled();
    };
    await answer(11);
    void queryClient.refetchQueries(options);
    await answer(10);
    expect(shown).toEqual([12, 11, 10]);
    unmount();
    queryClient.clear();
  });
});

async function runCell(version: typeof current, { state, event, outcome }: Cell): Promise<void> {
  const query = open(version);
  const call = await STATES[state]!(query);
  const { signal } = call.context;
  await settled();
  EVENTS[event]!(call, query);
  await settled();
  const { data, error, fetchStatus } = query.queryClient.getQueryState(query.options.queryKey)!;
  const parts = [
    data?.level ?? 'none',
    error ? 'failed' : fetchStatus,
    ...(signal.aborted ? ['canceled'] : []),
  ];
  query.queryClient.clear();
  expect(parts.join(' ')).toBe(outcome);
  expect(query.binding.calls.length).toBe(state === 'final, fetching again' ? 2 : 1);
}
