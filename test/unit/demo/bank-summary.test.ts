/** The figures of a run of the bank, and its sentence. */
import { expect, test } from 'vitest';
import type { Receipt } from '../../../demo/bank/receipt.ts';
import { describeRun, summarize } from '../../../demo/bank/summary.ts';
import type { HistoryLine } from '../../../demo/bank/verify/history.ts';

const balances = { Ada: 100, Ben: 100, Cleo: 100, Dan: 100 };
const OPENED: HistoryLine = { kind: 'opened', balances, atMs: 0 };
const CLOSED: HistoryLine = { kind: 'closed', balances, atMs: 99 };
const KILL: HistoryLine[] = [
  { kind: 'killed', site: 'virginia', atMs: 1 },
  { kind: 'moved', client: 'virginia', from: 'virginia', to: 'ireland', atMs: 2 },
  { kind: 'started', site: 'virginia', atMs: 3 },
  { kind: 'caughtUp', site: 'virginia', atMs: 7 },
];

test('receipts → counted by why a transfer was not made', () => {
  const transfer = { from: 'Ada', to: 'Ben', euros: 10 } as const;
  const refusals = [
    { kind: 'not enough', balance: 3 },
    { kind: 'conflict' },
    { kind: 'unavailable' },
  ] as const;
  const receipts = refusals.map((refusal): Receipt => ({
    transfer,
    refusal: { ...refusal, ms: 5 },
  }));
  const figures = summarize([{ site: 'frankfurt', receipts }], [OPENED, CLOSED]);
  expect(figures).toMatchObject({ refused: 1, conflicts: 1, unavailable: 1, kills: { count: 0 } });
});

test('a kill → the site, the time until it had caught up, and the clients that moved', () => {
  const { kills } = summarize([], [OPENED, ...KILL, CLOSED]);
  const perSite = { ireland: 0, frankfurt: 0, virginia: 1 };
  expect(kills).toMatchObject({ count: 1, perSite, backAfterMs: { p50: 4 }, moves: 1 });
});

test.each([
  [
    [OPENED, CLOSED],
    'The total was €400 at each of 0 strong reads, and none of 0 transfers was lost or made twice.',
  ],
  [[OPENED, ...KILL, CLOSED], 'was lost or made twice, while a site was killed.'],
  [[OPENED, ...KILL, ...KILL, CLOSED], 'was lost or made twice, while sites were killed 2 times.'],
  [
    [OPENED, { ...CLOSED, balances: { ...balances, Ada: 90 } }],
    'FAILED: the checker found faults in 0 transfers: see',
  ],
])('%# a run → its sentence', (history, sentence) => {
  expect(describeRun(summarize([], history))).toContain(sentence);
});
