/** What the news page shows of the views that have come, and its sentences. */
import { describe, expect, test } from 'vitest';
import type { NewsView } from '../../../demo/news/front-page.ts';
import {
  addView,
  getStepState,
  listShownStories,
  NOTHING_READ,
  STEPS,
  type FrontPageReading,
} from '../../../demo/news/page/front-page-reading.ts';
import {
  formatAge,
  formatHeadline,
  formatMove,
  formatPlay,
  formatPost,
  formatStepNote,
  formatStepTime,
  formatThreadMs,
  formatVerdict,
} from '../../../demo/news/page/texts.ts';

const NOW = 1_000_000;
const old = { id: '1', headline: 'Old', place: 'Oslo' };
const fresh = { id: '2', headline: 'Fresh', place: 'Cork' };
const cache: NewsView = { stories: [old], level: 'cache', ms: 0.5, cachedAt: NOW - 12_000 };
const causal: NewsView = { stories: [old], level: 'causal', ms: 5 };
const strong: NewsView = { stories: [fresh, old], level: 'strong', ms: 260 };

const read = (...views: readonly NewsView[]): FrontPageReading =>
  views.reduce(addView, NOTHING_READ);
const describeSteps = (reading: FrontPageReading): readonly string[] =>
  STEPS.map((step) => {
    const state = getStepState(reading, step);
    return `${formatStepTime(state)}: ${formatStepNote(step, state, NOW)}`;
  });

describe('an opening of the front page → its steps, and its sentence', () => {
  test.each([
    [read(), ['…: on its way', '…: on its way', '…: on its way'], 'Opening the news…'],
    [
      read(cache),
      ['0.5 ms: stored 12 s ago', '…: on its way', '…: on its way'],
      'On screen after 0.5 ms, not confirmed yet…',
    ],
    [
      read(causal),
      ['–: nothing stored yet', '5.0 ms: 1 headlines', '…: on its way'],
      'On screen after 5.0 ms, not confirmed yet…',
    ],
    [
      read(cache, causal, strong),
      ['0.5 ms: stored 12 s ago', '5.0 ms: nothing new', '260 ms: 1 new'],
      'On screen after 0.5 ms, confirmed after 260 ms.',
    ],
    [
      { ...read(cache), failure: 'offline' },
      ['0.5 ms: stored 12 s ago', '–: not asked: offline', '–: not asked: offline'],
      'On screen after 0.5 ms. Offline: newer headlines may exist.',
    ],
    [
      { ...NOTHING_READ, failure: 'offline' },
      ['–: nothing stored yet', '–: not asked: offline', '–: not asked: offline'],
      'Offline, and nothing is stored on this device yet.',
    ],
    [
      { ...read(cache, causal), failure: 'failed' },
      ['0.5 ms: stored 12 s ago', '5.0 ms: nothing new', '–: did not answer'],
      'On screen after 0.5 ms, not confirmed.',
    ],
  ] as const)('%# %j', (reading, steps, sentence) => {
    expect(describeSteps(reading)).toEqual(steps);
    expect(formatHeadline(reading)).toBe(sentence);
  });

  test('a view that is not certain belongs to no step', () => {
    expect(addView(NOTHING_READ, { ...causal, level: 'tentative' })).toBe(NOTHING_READ);
  });

  test('a story is new at the level that brought it', () => {
    expect(listShownStories(read(cache, causal, strong)).map(({ isNewAt }) => isNewAt)).toEqual([
      'strong',
      undefined,
    ]);
    expect(listShownStories(read(strong)).map(({ isNewAt }) => isNewAt)).toEqual([
      undefined,
      undefined,
    ]);
  });
});

test.each([
  [{ orphans: 0, missing: 0 }, 0, 'In order'],
  [{ orphans: 0, missing: 0 }, 1, 'In order, 1 comment waits for what came before'],
  [{ orphans: 1, missing: 0 }, 0, '1 answer without a question'],
  [{ orphans: 2, missing: 1 }, 3, '2 answers without a question, 1 comment of yours missing'],
])('the verdict on %j with %i held → %s', (faults, held, verdict) => {
  expect(formatVerdict(faults, held)).toBe(verdict);
});

test.each([
  [500, 'just now'],
  [12_000, '12 s ago'],
  [300_000, '5 min ago'],
  [-5_000, 'just now'],
])('an age of %i ms → %s', (ageMs, text) => {
  expect(formatAge(ageMs)).toBe(text);
});

test('a reader who moves → where the session is, and whether own comments are there', () => {
  expect(formatMove({ kind: 'settled' }, 'sydney')).toContain('Sydney');
  expect(formatMove({ kind: 'waiting', site: 'oregon' }, 'oregon')).toContain(
    'Waiting until Oregon has all',
  );
  const arrived = { kind: 'arrived', site: 'oregon', ms: 350 } as const;
  expect(formatMove({ ...arrived, hasOwn: true }, 'oregon')).toBe(
    'Oregon answered after 350 ms, with all that you had read. Your own comments are there.',
  );
  expect(formatMove({ ...arrived, hasOwn: false }, 'oregon')).not.toContain('own comments');
});

test('a comment that was not stored → whether it may have been', () => {
  expect(formatPost({ kind: 'refused' })).toContain('Nothing was changed');
  expect(formatPost({ kind: 'unknown' })).toContain('may have been stored');
  expect(formatPost({ kind: 'sent', site: 'sydney', ms: 4 })).toBe(
    'Stored in Sydney after 4.0 ms.',
  );
});

test('a conversation seen from another site → a hint to move', () => {
  expect(formatPlay('waiting', 'sydney', true)).toContain('to you in Sydney');
  expect(formatPlay('waiting', 'dublin', true)).toContain('Move to Sydney');
});

test('the levels of one read → those that have answered', () => {
  expect(formatThreadMs({})).toBe('');
  expect(formatThreadMs({ cache: 0.5, causal: 4, latest: 520 })).toBe(
    'One read: this device 0.5 ms, near site 4.0 ms, all sites 520 ms.',
  );
});
