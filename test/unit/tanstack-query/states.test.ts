/** The table of docs/spec/tanstack-query.md, run through cell by cell. */
import { QueryClient, QueryObserver } from '@tanstack/query-core';
import { expect, test } from 'vitest';
import { createClient } from '../../../src/index.ts';
import { get } from '../../../src/operations/index.ts';
import { correctableQuery } from '../../../src/tanstack-query/index.ts';
import { scriptedBinding } from '../../../src/testing/scripted-binding.ts';
import { readStateTable } from '../../support/state-table.ts';

function open() {
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

test.each(readStateTable('tanstack-query'))('$state, $event → $outcome', async ({ state, event, outcome }) => {
  const query = open();
  const call = await STATES[state]!(query);
  const { signal } = call.context;
  await settled();
  EVENTS[event]!(call, query);
  await settled();
  const { data, error, fetchStatus } = query.queryClient.getQueryState(query.options.queryKey)!;
  const parts = [data?.level ?? 'none', error ? 'failed' : fetchStatus, ...(signal.aborted ? ['canceled'] : [])];
  query.queryClient.clear();
  expect(parts.join(' ')).toBe(outcome);
  expect(query.binding.calls.length).toBe(state === 'final, fetching again' ? 2 : 1);
});
