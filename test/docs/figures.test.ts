/** Figures of the documentation that were measured: each is that of its file in bench/results. */
import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { readResult } from '../../bench/harness/results.ts';

const root = new URL('../../', import.meta.url);
const read = (path: string): string => readFileSync(new URL(path, root), 'utf8');

interface Row {
  readonly workload: string;
  readonly window: number;
  readonly contender: string;
  readonly opsPerSecond: number;
}

const { rows } = readResult('server') as unknown as { readonly rows: readonly Row[] };

/** The time that one operation after the other takes, as a share of what it takes without polling. */
function shareOfTime(contender: string): string {
  const opsPerSecond = (name: string): number => {
    const row = rows.find((item) => item.workload === 'set' && item.window === 1 && item.contender === name);
    if (row === undefined) throw new Error(`server.json: '${name}' was not measured one at a time`);
    return row.opsPerSecond;
  };
  return (opsPerSecond(`${contender}, no polling`) / opsPerSecond(contender)).toFixed(2);
}

/** By page: its sentences, with the figures of the results. */
const SENTENCES: Readonly<Record<string, readonly string[]>> = {
  'docs/operate/run-a-server.md': [
    `operations one at a time took ${shareOfTime('ephemeral')} of the time\n  in memory`,
  ],
};

describe('figures', () => {
  test.each(Object.entries(SENTENCES))('%s → has the measured figures', (page, sentences) => {
    for (const sentence of sentences) expect(read(page)).toContain(sentence);
  });

  /** A paragraph that names a benchmark or a figure, with decimals or shares, was measured. */
  const MEASURED = /npm run bench|bench\/results|figures\/[\w-]+\.svg/;
  const pages = readdirSync(new URL('docs/', root), { recursive: true, encoding: 'utf8' })
    // The page of the plots is written from the results, and compared with them elsewhere.
    .filter((path) => path.endsWith('.md') && path !== 'plots.md')
    .map((path) => `docs/${path}`);

  test.each(['README.md', ...pages])('%s → has no other figures beside benchmarks', (page) => {
    const text = (SENTENCES[page] ?? []).reduce((remaining, sentence) => remaining.replace(sentence, ''), read(page));
    const paragraphs = text.replaceAll(/^```[\s\S]*?^```$/gm, '').split(/\n\s*\n/);
    const figures = paragraphs
      .filter((paragraph) => MEASURED.test(paragraph))
      .flatMap((paragraph) => paragraph.match(/(?<![\w.§])\d+(\.\d+| ?%)(?![\w.])/g) ?? []);
    expect(figures).toEqual([]);
  });

  const FOLDER = 'docs/figures/';
  const plots = readdirSync(new URL(FOLDER, root)).filter((path) => path.endsWith('.svg'));

  test('every plot has its finding, a description, and colors for dark pages', () => {
    const isFull = (svg: string): boolean =>
      ['<title>', '<desc>', 'prefers-color-scheme: dark', 'role="img"'].every((part) => svg.includes(part));
    expect(plots.length).toBeGreaterThan(0);
    expect(plots.filter((path) => !isFull(read(`${FOLDER}${path}`)))).toEqual([]);
  });

  test('the readme and the guides show five plots at most: the page of the plots has all', () => {
    const shown = (page: string): string[] => read(page).match(/figures\/[\w-]+\.svg/g) ?? [];
    const elsewhere = ['README.md', ...pages].flatMap((page) => shown(page));
    expect(elsewhere.length).toBeLessThanOrEqual(5);
    expect(new Set(shown('docs/plots.md')).size).toBe(plots.length);
  });
});
