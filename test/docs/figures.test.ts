/** Measured figures stand where a test compares them with bench/results, and in no other page. */
import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';

const root = new URL('../../', import.meta.url);
const read = (path: string): string => readFileSync(new URL(path, root), 'utf8');

describe('figures', () => {
  /** A paragraph that names a benchmark or a figure, with decimals or shares, was measured. */
  const MEASURED = /npm run bench|bench\/results|figures\/[\w-]+\.svg/;
  const pages = readdirSync(new URL('docs/', root), { recursive: true, encoding: 'utf8' })
    // The page of the plots is written from the results, and compared with them elsewhere.
    .filter((path) => path.endsWith('.md') && path !== 'plots.md')
    .map((path) => `docs/${path}`);

  test.each(['README.md', ...pages])('%s → has no other figures beside benchmarks', (page) => {
    const paragraphs = read(page)
      .replaceAll(/^```[\s\S]*?^```$/gm, '')
      .split(/\n\s*\n/);
    const figures = paragraphs
      .filter((paragraph) => MEASURED.test(paragraph))
      .flatMap((paragraph) => paragraph.match(/(?<![\w.§])\d+(\.\d+| ?%)(?![\w.])/g) ?? []);
    expect(figures).toEqual([]);
  });

  const FOLDER = 'docs/figures/';
  const plots = readdirSync(new URL(FOLDER, root)).filter((path) => path.endsWith('.svg'));

  test('every plot has its finding, a description, and colors for dark pages', () => {
    const isFull = (svg: string): boolean =>
      ['<title>', '<desc>', 'prefers-color-scheme: dark', 'role="img"'].every((part) =>
        svg.includes(part),
      );
    expect(plots.length).toBeGreaterThan(0);
    expect(plots.filter((path) => !isFull(read(`${FOLDER}${path}`)))).toEqual([]);
  });

  test('every color is in an attribute, so that a plot does not depend on style sheets', () => {
    const isLiteral = (color: string): boolean => /^(#[0-9a-f]{6}|none|currentColor)$/.test(color);
    const colors = plots.flatMap((path) =>
      [...read(`${FOLDER}${path}`).matchAll(/ (?:fill|stroke|color|style)="([^"]*)"/g)].map(
        ([, color = '']) => color,
      ),
    );
    expect([...new Set(colors)].filter((color) => !isLiteral(color))).toEqual([]);
    expect(plots.filter((path) => read(`${FOLDER}${path}`).includes('var('))).toEqual([]);
  });

  test('the readme and the guides show six plots at most: the page of the plots has all', () => {
    const shown = (page: string): string[] => read(page).match(/figures\/[\w-]+\.svg/g) ?? [];
    const elsewhere = ['README.md', ...pages].flatMap((page) => shown(page));
    expect(elsewhere.length).toBeLessThanOrEqual(6);
    expect(new Set(shown('docs/plots.md')).size).toBe(plots.length);
  });
});
