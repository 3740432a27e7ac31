/** The sentences of the bank's page. */
import { describe, expect, test } from 'vitest';
import {
  countReceipts,
  formatHeadline,
  formatMessage,
  formatVerdict,
} from '../../../demo/bank/page/texts.ts';
import { getStatus, type Receipt } from '../../../demo/bank/receipt.ts';

const transfer = { from: 'Ada', to: 'Ben', euros: 10 } as const;
const seen = { balances: { Ada: 90, Ben: 110 }, ms: 5 };
const notEnough = { kind: 'not enough', balance: 3, ms: 200 } as const;

const SENT: Receipt = { transfer };
const EARLY: Receipt = { transfer, early: seen };
const CONFIRMED: Receipt = { ...EARLY, confirmed: { ...seen, ms: 90 } };
const CORRECTED: Receipt = { ...CONFIRMED, isCorrected: true };
const REFUSED: Receipt = { transfer, refusal: notEnough };
const TAKEN_BACK: Receipt = { ...EARLY, refusal: notEnough };
const GAVE_UP: Receipt = { ...EARLY, refusal: { kind: 'conflict', ms: 900 } };
const UNAVAILABLE: Receipt = { transfer, refusal: { kind: 'unavailable', ms: 9 } };
const UNKNOWN: Receipt = { ...EARLY, refusal: { kind: 'failed', ms: 30_000 } };

describe('a receipt → its status and its sentence', () => {
  test.each([
    [SENT, 'sent', '€10 from Ada to Ben…'],
    [EARLY, 'early', '€10 from Ada to Ben: early, the commit is on its way.'],
    [CONFIRMED, 'confirmed', '€10 from Ada to Ben: confirmed.'],
    [CORRECTED, 'confirmed', 'The early balances were corrected'],
    [REFUSED, 'refused', 'refused. Ada has only €3.'],
    [TAKEN_BACK, 'taken back', 'taken back. Ada has only €3: another transfer was first.'],
    [GAVE_UP, 'taken back', 'taken back. Others kept changing the accounts.'],
    [UNAVAILABLE, 'refused', 'refused. The site was not there. Nothing was written.'],
    [UNKNOWN, 'unknown', 'no answer after 30000 ms. It may have been made.'],
  ])('%# %j', (receipt, status, sentence) => {
    expect(getStatus(receipt)).toBe(status);
    expect(formatMessage(receipt)).toContain(sentence);
  });
});

test('receipts → counted by what has come of them', () => {
  const counts = countReceipts([
    SENT,
    EARLY,
    CONFIRMED,
    CORRECTED,
    REFUSED,
    TAKEN_BACK,
    GAVE_UP,
    UNKNOWN,
  ]);
  expect(counts).toEqual({ confirmed: 2, corrected: 1, takenBack: 2, refused: 1 });
});

test('the same money spent twice → what has come of it at both sites', () => {
  const money = { from: 'Ada', euros: 10 } as const;
  const counts = countReceipts([]);
  expect(formatHeadline(money, counts, false)).toBe('Both tellers send the last €10 of Ada…');
  expect(formatHeadline({ ...money, receipts: [CONFIRMED, TAKEN_BACK] }, counts, false)).toBe(
    'The last €10 of Ada: confirmed in Frankfurt, taken back in Virginia.',
  );
});

test('a total that has changed → the verdict shows it, also after later reads', () => {
  const totals = { first: 400, latest: 400, reads: 3 };
  expect(formatVerdict({ ...totals, changed: 0 })).toBe('Unchanged in 3 reads');
  expect(formatVerdict({ ...totals, changed: 1 })).toBe('Changed: 1 of 3 reads differ from €400');
});
