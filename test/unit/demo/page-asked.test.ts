/** For whom the pages say that they fetch, and what they say has come of it. */
import { expect, test } from 'vitest';
import { askedText, statusText } from '../../../demo/shared/page/asked.ts';
import type { Asked } from '../../../demo/shared/page/race.ts';

const ONE: Asked = { user: 8, site: 'frk', served: 0, of: 1, state: 'under way' };
const SERIES: Asked = { user: 93, site: 'frk', served: 4, of: 50, state: 'under way' };

test.each([
  [undefined, 'Nothing fetched yet'],
  [ONE, 'Fetching ads for user 8, beside frk…'],
  [{ ...ONE, state: 'delivered' }, 'Ads for user 8, beside frk'],
  [{ ...ONE, state: 'failed' }, 'No ads for user 8, beside frk: the request has failed'],
  [{ ...ONE, state: 'given up' }, 'No ads for user 8, beside frk: given up when the site was changed'],
  [SERIES, '4 of 50 users served beside frk…'],
  [{ ...SERIES, served: 49, state: 'delivered' }, 'Ads for user 93, the last of 50, beside frk'],
  [{ ...SERIES, state: 'failed' }, '4 of 50 users served beside frk; the request for user 93 has failed'],
  [
    { ...SERIES, state: 'given up' },
    '4 of 50 users served beside frk; the rest was given up when the site was changed',
  ],
] satisfies [Asked | undefined, string][])('asked: %j → %s', (asked, text) => {
  expect(askedText(asked, 'ads')).toBe(text);
});

test('status: a series under way → the same text for each user: it is read out', () => {
  const textFor = (asked: Asked): string => statusText({ phase: 'fetching', online: true, asked });
  expect(textFor(SERIES)).toBe('Fetching for 50 users…');
  expect(textFor({ ...SERIES, user: 94, served: 5 })).toBe(textFor(SERIES));
  expect(textFor(ONE)).toBe('Fetching for user 8…');
});

test('status: no connection → says so, unless it is being made or counts as failed', () => {
  const textIn = (phase: 'connecting' | 'delivered' | 'failed'): string =>
    statusText({ phase, online: false, asked: ONE });
  expect(textIn('delivered')).toBe('No connection: trying again…');
  expect(textIn('connecting')).toBe('Connecting…');
  expect(textIn('failed')).toBe('Failed');
});
