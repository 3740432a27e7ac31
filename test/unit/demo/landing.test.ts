/**
 * What the landing demo computes: measures of a click, the sentences, the bars, and the code that
 * it shows.
 */
import { expect, test } from 'vitest';
import { readCode, toHtml } from '../../../demo/landing/code.ts';
import { findFunction, formatCode } from '../../../demo/launcher/demo-code.ts';
import { demos } from '../../../demo/launcher/demos.ts';
import type { Click, Step } from '../../../demo/landing/click.ts';
import { measure, median } from '../../../demo/landing/measures.ts';
import { segmentsOf, ticksOf } from '../../../demo/landing/page/segments.ts';
import { isStaleClick } from '../../../demo/landing/scenario.ts';
import { describe as describeClick, summarize } from '../../../demo/landing/texts.ts';
import type { WayName } from '../../../demo/landing/ways/ways.ts';

type Shown = Extract<Step, { kind: 'shown' }>;

const shown = (atMs: number, price: number, state: Shown['state'] = 'unmarked'): Step => ({
  kind: 'shown',
  atMs,
  state,
  goods: { offer: { price, left: 40, warehouse: 'Lyon' }, delivery: 'tomorrow' },
});
const bought = (atMs: number, price: number): readonly Step[] => [
  { kind: 'allowed', atMs },
  { kind: 'pressed', atMs, price },
  { kind: 'answered', atMs, answer: 'yours' },
];
const STALE = { distanceMs: 150, isStale: true, isLastOne: false, isCut: false };
const click = (way: WayName, ...steps: readonly Step[]): Click => ({
  way,
  scenario: STALE,
  beganAt: 0,
  steps,
  reads: [],
});

/** One click that meets an old price of 20 €, each way. */
const CLICKS = {
  await: click('await', shown(302, 18), ...bought(302, 18)),
  careless: click('careless', shown(9, 20), ...bought(9, 20), shown(310, 18)),
  careful: click(
    'careful',
    shown(9, 20, 'confirming'),
    shown(310, 18, 'confirmed'),
    ...bought(310, 18),
  ),
  correctables: click(
    'correctables',
    shown(9, 20, 'confirming'),
    shown(155, 18, 'confirming'),
    shown(158, 18, 'confirmed'),
    ...bought(158, 18),
  ),
};
const ROUND = {
  await: measure(CLICKS.await),
  careless: measure(CLICKS.careless),
  careful: measure(CLICKS.careful),
  correctables: measure(CLICKS.correctables),
};

test('many clicks → the sentences compare when the page is shown, when Buy is enabled, and wrong sales', () => {
  expect(summarize([ROUND, ROUND], { ...STALE, isStale: false })).toEqual({
    headline:
      '2 clicks, 150 ms away: shown after 9 ms instead of 302, Buy enabled after 158 ms instead of 302, 0 wrong sales.',
    others:
      'Stale-while-revalidate enabled Buy after 310 ms. Without holding it, after 9 ms, but 2 wrong sales.',
  });
});

test('one click after a fault → the headline names the fault', () => {
  const cut = measure({
    ...CLICKS.await,
    steps: [{ kind: 'failed', during: 'opening', code: 'TIMEOUT', atMs: 1500 }],
  });
  expect(
    summarize([{ ...ROUND, await: cut, correctables: cut }], { ...STALE, isCut: true }).headline,
  ).toBe('No connection: shown never, Buy enabled never, 0 wrong sales.');
  expect(summarize([{ ...ROUND, await: cut }], STALE).headline).toBe(
    'The price just changed: shown after 9 ms instead of never, Buy enabled after 158 ms instead of never, 0 wrong sales.',
  );
});

test('a stale click → each way says what was corrected, and what was sold at a wrong price', () => {
  expect(describeClick(ROUND.correctables)).toBe(
    'shown after 9 ms, price corrected after 155, Buy enabled after 158, sold at 18 €',
  );
  expect(describeClick(ROUND.careless)).toBe(
    'shown and Buy enabled after 9 ms, price replaced after 310, sold at 20 €, a wrong price',
  );
});

test('bars: a wrong early answer is marked; one that looks certain is wrong', () => {
  const kinds = (way: keyof typeof CLICKS): unknown[] =>
    segmentsOf(CLICKS[way], 345).map(({ kind, fromMs, toMs }) => [kind, fromMs, toMs]);
  expect(kinds('await')).toEqual([
    ['waiting', 0, 302],
    ['confirmed', 302, 345],
  ]);
  expect(kinds('careless')).toEqual([
    ['waiting', 0, 9],
    ['wrong', 9, 310],
    ['unmarked', 310, 345],
  ]);
  expect(kinds('correctables')).toEqual([
    ['waiting', 0, 9],
    ['wasted', 9, 155],
    ['early', 155, 158],
    ['confirmed', 158, 345],
  ]);
  expect(ticksOf(345)).toEqual([0, 50, 100, 150, 200, 250, 300]);
});

test.each([
  [0, 0],
  [0.15, 3],
  [0.5, 10],
])(
  'of 20 clicks, a share of %d → %i meet a stale copy, and the last one does not',
  (share, count) => {
    const clicks = Array.from({ length: 20 }, (_, n) => isStaleClick(n, share, 20));
    expect(clicks.filter(Boolean)).toHaveLength(count);
    expect(clicks.at(-1)).toBe(false);
  },
);

test('median: of two values in the middle → their mean', () => {
  expect([median([3, 1, 2]), median([4, 1, 2, 3]), median([])]).toEqual([2, 2.5, NaN]);
});

test('code panes: the files as they are; a line that all have is not marked', async () => {
  const { correctables, careless } = await readCode();
  expect(correctables[0]).toEqual({
    text: 'export const open: Open = async (shop, page) => {',
    differs: false,
  });
  expect(careless.find(({ text }) => text.includes('cached = await'))?.differs).toBe(true);
  for (const { text } of [...correctables, ...careless])
    expect(text.length, text).toBeLessThanOrEqual(52);
  expect(toHtml("const a = x < 'b';")).toBe(
    '<i class="word">const</i> a = x &lt; <i class="string">\'b\'</i>;',
  );
});

test('code of a demo: the functions that it names are there', async () => {
  for (const { code = [] } of demos) {
    const html = await formatCode(code);
    for (const { title, name } of code)
      expect(html).toMatch(new RegExp(`<h3>${title}</h3>.*${name}(: )?\\(`));
  }
  expect(findFunction('const all = {\n  go: (x) => {\n    run(x);\n  },\n};', 'go')).toEqual([
    'go: (x) => {',
    '  run(x);',
    '},',
  ]);
  expect(findFunction('class A {\n  go(): void {\n    run();\n  }\n}', 'go')).toEqual([
    'go(): void {',
    '  run();',
    '}',
  ]);
});
