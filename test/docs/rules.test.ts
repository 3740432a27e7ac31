/**
 * Each rule of docs/spec has one id, and stands in a test; and each id that a source names is that
 * of a rule.
 */
import { readdir, readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const root = fileURLToPath(new URL('../../', import.meta.url));

/** The pages with rules, and what the ids of each begin with. */
const PREFIXES: Readonly<Record<string, string>> = {
  'between-sites': 'BS',
  cache: 'CACHE',
  'cassandra-icg': 'ICG',
  'causal-store': 'CAUSAL',
  cluster: 'CLU',
  correctable: 'COR',
  'http-views': 'HV',
  partitions: 'PART',
  'red-log-etcd': 'ETCD',
  redblue: 'RB',
  replicas: 'REPL',
  rights: 'RIGHTS',
  storage: 'STO',
  tiered: 'TIER',
  'tanstack-query': 'TQ',
  transactions: 'TX',
};
const ID = new RegExp(
  `(?<![\\w-])(?:${Object.values(PREFIXES).join('|')})-[A-Z]?\\d+[a-z]?(?!\\w)`,
  'g',
);

async function readRules(page: string): Promise<string[]> {
  const text = await readFile(`${root}docs/spec/${page}.md`, 'utf8');
  const found = text.matchAll(/^(?:\| |- \*\*|\*\*)([A-Z]+-[A-Z]?\d+[a-z]?)(?= \||[ .*])/gm);
  // A page may have a table of its rules, and a section for each.
  return [...new Set([...found].map(([, id = '']) => id))];
}

async function readSources(
  folder: string,
): Promise<readonly (readonly [file: string, text: string])[]> {
  const files = await readdir(`${root}${folder}`, { recursive: true });
  const sources = files.filter((file) => /\.(?:tsx?|java|md)$/.test(file));
  return Promise.all(
    sources.map(
      async (file) =>
        [`${folder}/${file}`, await readFile(`${root}${folder}/${file}`, 'utf8')] as const,
    ),
  );
}

const rules = (await Promise.all(Object.keys(PREFIXES).map(readRules))).flat();
const tests = await readSources('test');
const others = (await Promise.all(['src', 'bench', 'docs'].map(readSources))).flat();
/** `COR-8c` is a part of the rule `COR-8`. */
const isRule = (id: string): boolean =>
  rules.includes(id) || rules.includes(id.replace(/[a-z]$/, ''));

test('each rule has an id of its own', () => {
  expect(rules.length).toBeGreaterThan(200);
  expect(rules.filter((id, index) => rules.indexOf(id) !== index)).toEqual([]);
});

test('each rule stands in a test: in a title, or behind @rule', () => {
  const shown = new Set(tests.flatMap(([, text]) => text.match(ID) ?? []));
  const isShown = (id: string): boolean =>
    [...shown].some((item) => item === id || item.replace(/[a-z]$/, '') === id);
  expect(rules.filter((id) => !isShown(id))).toEqual([]);
});

test('each id that a source, a test or a page names is that of a rule', () => {
  const unknown = [...tests, ...others].flatMap(([file, text]) =>
    (text.match(ID) ?? []).filter((id) => !isRule(id)).map((id) => `${file}: ${id}`),
  );
  expect(unknown).toEqual([]);
});
