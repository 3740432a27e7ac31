/** The record of a run. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { callFaults } from '../../histories/checks/calls.ts';
import { History } from '../../histories/history.ts';
import { observe } from '../../histories/observe.ts';
import { getReportedOutcome } from '../../histories/reported-outcomes.ts';
import { memory } from '../../../src/bindings/memory/index.ts';
import { createClient } from '../../../src/index.ts';
import { dequeue, get } from '../../../src/operations/index.ts';
import { dequeued, NOT_MADE, UNKNOWN } from './build.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

test('calls → in the history when they begin, in the file when they have ended, or at the end of all', async () => {
  const folder = temporaryFolder();
  const file = join(folder, 'h.jsonl');
  const lines = (): string[] => readFileSync(file, 'utf8').split('\n').slice(0, -1);
  {
    using history = new History(file);
    const call = history.record({ session: 's', kind: 'get', key: 'k', beginMs: 1 });
    history.record({ session: 's', kind: 'put', key: 'k', input: 7n, beginMs: 2 });
    expect(lines()).toEqual([]);
    Object.assign(call, { endMs: 3, outcome: 'success' });
    history.ended(call);
    expect(lines()).toEqual([
      '{"session":"s","kind":"get","key":"k","beginMs":1,"endMs":3,"outcome":"success"}',
    ]);
    expect(history.calls).toHaveLength(2);
  }
  expect(lines()[1]).toBe('{"session":"s","kind":"put","key":"k","input":"7","beginMs":2}');
});

test('an operation → its views and outcome', async () => {
  using history = new History();
  await using client = createClient(memory());
  const found = await observe(history, client, {
    session: 's',
    kind: 'get',
    key: 'k',
    operation: get('k'),
  });
  expect(found).toMatchObject({ outcome: 'success', output: undefined });
  expect(found.views?.map(({ level }) => level)).toEqual(client.levels);
  const weak = {
    session: 's',
    kind: 'get',
    key: 'k',
    operation: get('k'),
    how: 'invokeWeak',
  } as const;
  expect(await observe(history, client, weak)).toMatchObject({
    levels: [client.levels[0]],
    outcome: 'success',
  });
  const wrong = await observe(history, client, {
    session: 's',
    kind: 'x',
    key: 'k',
    operation: { ...dequeue('q'), name: 'x' },
  });
  expect(wrong).toMatchObject({ outcome: 'UNSUPPORTED', isRetryable: false });
  expect(history.calls).toHaveLength(3);
});

test('outcomes → made, not made, or not known', () => {
  const of = (details: object): string => getReportedOutcome({ ...dequeued('a', 0), ...details });
  expect(of({})).toBe('made');
  expect(of(NOT_MADE)).toBe('not made');
  expect(of({ outcome: 'TIMEOUT', isRetryable: true })).toBe('not made');
  expect(of({ outcome: 'TIMEOUT', isRetryable: false })).toBe('unknown');
  expect(of(UNKNOWN)).toBe('unknown');
  expect(of({ outcome: undefined })).toBe('unknown');
});

test('calls without an answer, or with words of their own → faults', () => {
  const calls = [
    { ...dequeued(null, 0), outcome: 'TIMEOUT' },
    { ...dequeued(null, 0), outcome: 'not translated: ZooKeeperError' },
    { session: 's', kind: 'get', key: 'k', beginMs: 5 },
    dequeued(null, 0),
  ];
  expect(callFaults(calls)).toEqual([
    'q: dequeue of s at 0 ms was not answered in time',
    'q: dequeue of s at 0 ms: not translated: ZooKeeperError',
    'k: get of s at 5 ms was never answered',
  ]);
});
