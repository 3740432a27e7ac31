/**
 * The pages of docs/reference list every option, error code, and flag of the command line, and no
 * other.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { comparePage, readOptionTexts, SECTIONS } from '../../scripts/options-page.ts';
import manifest from '../../package.json' with { type: 'json' };
import { toHeadingSlug } from '../../site/vitepress/heading-slug.ts';
import { COMMANDS } from '../../src/cli/commands.ts';
import { CorrectableError, type ErrorCode } from '../../src/correctable/errors.ts';

const root = new URL('../../', import.meta.url);
const ERROR_CODES_PAGE = 'docs/reference/error-codes.md';
const readText = (path: string): string => readFileSync(new URL(path, root), 'utf8');

test('options: the page is what its script writes', () => {
  const { page, expected } = comparePage();
  expect(page, 'run `npm run options`').toBe(expected);
});

/** Options of values and callbacks, which the pages about those explain. */
const EXPLAINED_ELSEWHERE: readonly string[] = [
  'DriverQueryOptions',
  'FinalOnlyOptions',
  'HandlerOptions',
  'KeyValueTableOptions',
  'PreliminaryRepliesOptions',
  'ReadStrategyOptions',
  'ScanOptions',
  'SimulationOptions',
  'TableOptions',
  'TakeOptions',
  'WriteOptions',
];

test('options: every interface of options that an entry has is in a section', () => {
  const snapshots = readdirSync(new URL('../../api/', import.meta.url)).map((file) =>
    readText(`api/${file}`),
  );
  const published = snapshots.flatMap((text) =>
    [...text.matchAll(/^interface (\w+Options)\b/gm)].map(([, name = '']) => name),
  );
  const listed = Object.values(SECTIONS).flatMap((tables) => tables.flat().map(({ type }) => type));
  const known = new Set([...listed, ...EXPLAINED_ELSEWHERE]);
  expect([...new Set(published)].filter((name) => !known.has(name))).toEqual([]);
});

const described = Object.values(SECTIONS)
  .flat(2)
  .filter(({ description }) => description !== undefined);

test.each(described)('options: $type → the docstrings have the defaults of the code', (group) => {
  const documented = readOptionTexts(group).flatMap(({ name, text }) => {
    const value = group.description?.[name]?.defaultValue;
    return isWritable(value)
      ? [[name, text, `Default: ${formatDefault(name, value)}`] as const]
      : [];
  });
  for (const [name, text, expected] of documented)
    expect([name, text]).toEqual([name, stringContaining(expected)]);
});

type Writable = boolean | number | string;

function isWritable(value: unknown): value is Writable {
  return ['boolean', 'number', 'string'].includes(typeof value);
}

const stringContaining = (text: string): unknown => expect.stringContaining(text);

/**
 * Formats a default as docstrings have it: `10 000`, `1 MiB`, `no limit`, and words of code in
 * backticks.
 */
function formatDefault(name: string, value: Writable): string {
  if (typeof value !== 'number') return `\`${String(value)}\``;
  if (value === Infinity) return 'no limit';
  if (name.endsWith('Bytes')) return `${value / 2 ** 20} MiB`;
  return value < 10_000 ? String(value) : String(value).replaceAll(/\B(?=(\d{3})+$)/g, ' ');
}

const [, errorCodes = ''] =
  /export type ErrorCode =([^;]*);/.exec(readText('src/correctable/errors.ts')) ?? [];
const ERROR_CODES = [...errorCodes.matchAll(/'(\w+)'/g)].map(([, code]) => code as ErrorCode);

/** Returns the names in backticks that the rows of the tables begin with. */
const readRows = (text: string): string[] =>
  [...text.matchAll(/^\| `([^`]+)`/gm)].map(([, name = '']) => name);

test('error codes: the page has a row and a heading for every code', () => {
  const [, section = ''] = readText(ERROR_CODES_PAGE).split('\n## All codes\n');
  const [codes = ''] = section.split('\n## ');
  const rows = [...codes.matchAll(/^\| \[`([^`]+)`\]\(#([^)]+)\)/gm)].map(([, code, anchor]) => ({
    code,
    anchor,
  }));
  const headings = [...codes.matchAll(/^### (.+)$/gm)].map(([, heading = '']) => heading);
  expect(headings.toSorted()).toEqual(ERROR_CODES.toSorted());
  expect(rows).toEqual(headings.map((code) => ({ code, anchor: toHeadingSlug(code) })));
});

test('error codes: each error has the address of the heading of its code', () => {
  for (const code of ERROR_CODES)
    expect(new CorrectableError(code, 'failed').docs).toBe(
      `node_modules/${manifest.name}/${ERROR_CODES_PAGE}#${toHeadingSlug(code)}`,
    );
});

test.each(COMMANDS)('command line: the table of `$name` lists its flags', ({ name, flags }) => {
  const [, section = ''] = readText('docs/reference/cli.md').split(`\n## correctables ${name}`);
  const table = section.split('\n## ')[0] ?? '';
  expect(readRows(table)).toEqual(flags.map(({ typed }) => typed));
  for (const { typed, defaultValue } of flags) {
    if (defaultValue === undefined) continue;
    const row = table.split('\n').find((line) => line.startsWith(`| \`${typed}\``)) ?? '';
    const words = row.replaceAll('`', '');
    expect(words).toContain(`Default: ${formatDefault(typed, defaultValue).replaceAll('`', '')} |`);
  }
});
