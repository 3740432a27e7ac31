/** The notices of the page beside the figures. */
import { CorrectableError } from 'correctables';
import { expect, test } from 'vitest';
import { adviceFor, apology, isPassing } from '../../../demo/tickets/page/failures.ts';
import { noticesFor, type Notice, type Situation } from '../../../demo/tickets/page/notices.ts';
import type { Row } from '../../../demo/tickets/page/sale-record.ts';

const row = (purchase: Partial<Row>): Row => ({
  customer: 'a',
  retailer: 0,
  site: 'frankfurt',
  path: ['frankfurt'],
  byHand: false,
  ...purchase,
});

function notices(situation: Partial<Situation>): readonly Notice[] {
  return noticesFor({ lostSites: [], cutSites: [], rows: [], ...situation });
}

test('notices: a sale without trouble → none', () => {
  expect(
    notices({
      rows: [row({ answer: 'yes', finalItem: '#1' }), row({ answer: 'no', finalItem: null })],
    }),
  ).toEqual([]);
});

test('notices: a site cut off by hand → offers to plug it in; lost otherwise → reports that it is tried again', () => {
  expect(notices({ lostSites: ['virginia'], cutSites: ['virginia'] })).toMatchObject([
    { about: 'offline', text: expect.stringMatching(/No connection to Virginia.*Press “Plug in”/) },
  ]);
  expect(notices({ lostSites: ['virginia', 'ireland'], cutSites: ['virginia'] })[0]?.text).toMatch(
    /Virginia, Ireland.*goes on trying/,
  );
});

test('notices: turned away → counts the customers that still wait', () => {
  const rows = [row({ retries: 2 }), row({ retries: 1, answer: 'yes', finalItem: '#1' }), row({})];
  expect(notices({ rows })).toEqual([
    {
      about: 'busy',
      text: expect.stringMatching(/^2 customers were turned away.*; 1 wait to try again\.$/),
    },
  ]);
});

test.each([
  [1, 'One customer got a yes, but'],
  [2, '2 customers got a yes, but'],
])('notices: %i revoked → %s', (count, text) => {
  const rows = Array.from({ length: count }, () => row({ answer: 'yes', finalItem: null }));
  expect(notices({ rows })[0]?.text).toContain(text);
});

test('notices: a yes without a ticket → revoked; no final view → unanswered, with the cause', () => {
  const failure = new CorrectableError('UNKNOWN', 'lost');
  const rows = [row({ answer: 'yes', early: true, finalItem: null }), row({ failure })];
  expect(notices({ rows }).map(({ about }) => about)).toEqual(['revoked', 'unanswered']);
  expect(notices({ rows })[1]?.text).toBe(
    'One customer was left without a confirmed answer (no answer).',
  );
});

test.each([
  ['OVERLOADED', true, 'too busy'],
  ['UNKNOWN', true, 'no answer'],
  ['TIMEOUT', true, 'no answer'],
  ['UNAVAILABLE', true, 'failed'],
  ['PROTOCOL', false, 'failed'],
  ['INVALID_ARGUMENT', false, 'failed'],
] as const)(
  'failure %s: the sale survives → %s; the customer hears "%s"',
  (code, survives, words) => {
    const failure = new CorrectableError(code, 'test');
    expect([isPassing(failure), apology(failure)]).toEqual([survives, words]);
  },
);

test('advice: a backend that is gone → how to start it; a bad address → to correct it; anything else → to try again', () => {
  expect(adviceFor(new CorrectableError('UNAVAILABLE', 'gone'))).toContain('npm run demo');
  expect(adviceFor(new CorrectableError('INVALID_ARGUMENT', 'bad'))).toContain('address');
  expect(adviceFor(new Error('anything'))).toContain('Start a new sale');
});
