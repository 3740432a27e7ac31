/**
 * The figures of the kill demo come from its history alone, and losses and repetitions do show in
 * them.
 */
import { expect, test } from 'vitest';
import { createClient } from 'correctables';
import { scriptedBinding } from 'correctables/testing';
import { figuresOf, parseHistory, type HistoryLine } from '../../../demo/kill/history.ts';
import { getLookEnd, lookFor } from '../../../demo/kill/look-for.ts';
import { formatHeadline } from '../../../demo/kill/page/texts.ts';

const sent = (operation: string): HistoryLine => ({ operation, kind: 'sent', atMs: 0 });
const acknowledged = (operation: string): HistoryLine => ({
  operation,
  kind: 'acknowledged',
  atMs: 1,
});
const found = (operation: string, times: number): HistoryLine => ({
  operation,
  kind: 'found',
  times,
  atMs: 2,
});

test.each([
  [
    'found once at every site',
    [found('a', 1), found('a', 1)],
    { acknowledged: 1, lost: 0, repeated: 0 },
  ],
  [
    'missing at one site',
    [found('a', 1), found('a', 0)],
    { acknowledged: 1, lost: 1, repeated: 0 },
  ],
  ['never looked for', [], { acknowledged: 1, lost: 1, repeated: 0 }],
  ['twice at one site', [found('a', 1), found('a', 2)], { acknowledged: 1, lost: 0, repeated: 1 }],
])('acknowledged, %s → counted as that', (_, looks, figures) => {
  expect(figuresOf([sent('a'), acknowledged('a'), ...looks])).toEqual(figures);
});

test('sent, not acknowledged, not found → neither lost nor acknowledged', () => {
  expect(figuresOf([sent('a'), found('a', 0)])).toEqual({ acknowledged: 0, lost: 0, repeated: 0 });
});

test('sent, not acknowledged, found twice → repeated all the same', () => {
  expect(figuresOf([sent('a'), found('a', 2)])).toMatchObject({ repeated: 1 });
});

test('history as text → the same lines', () => {
  const lines = [sent('a'), found('a', 1)];
  expect(parseHistory(`${lines.map((line) => JSON.stringify(line)).join('\n')}\n`)).toEqual(lines);
});

test('the page shows how long the server has been away, and why it does not come back', () => {
  const kill = { atMs: 1000, backAtMs: undefined, lookedFor: 0, lost: undefined };
  const headline = (failure?: string): string =>
    formatHeadline({ nowMs: 9500, spans: [], kills: [{ ...kill, failure }], acknowledged: 1 });
  expect(headline()).toBe('Killed 8 s ago: no write is acknowledged until it is back.');
  expect(headline('exit code 1')).toBe('The server is not back: exit code 1');
});

test('a site has not heard yet of what another one acknowledged → looks again, and calls nothing lost', async () => {
  const binding = scriptedBinding(['tentative', 'causal', 'strong']);
  const times = lookFor(createClient(binding), ['a', 'b'], getLookEnd());
  (await binding.next()).view([1, 0], 'strong');
  (await binding.next()).view([1, 1], 'strong');
  expect(await times).toEqual([1, 1]);
});

test('an operation is missing to the end → 0', async () => {
  const binding = scriptedBinding(['tentative', 'causal', 'strong'], {
    onCall: (call) => call.view([0], 'strong'),
  });
  expect(await lookFor(createClient(binding), ['a'], performance.now())).toEqual([0]);
});
