import { readdirSync, readFileSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import { expect, it } from 'vitest';
import manifest from '../../package.json' with { type: 'json' };
import entries from '../../scripts/entries.json' with { type: 'json' };

type Published = Readonly<Record<string, unknown>>;

const scripts = (await import('../../scripts/package-entries.mjs' as string)) as {
  entryProblems(published: Published, table: typeof entries, root: string): string[];
};
const entryProblems = (published: Published, table: typeof entries): string[] =>
  scripts.entryProblems(published, table, process.cwd());

it('package.json → exports what the table of entries lists', () => {
  expect(entryProblems(manifest.exports, entries)).toEqual([]);
});

const root = new URL('../../', import.meta.url);
const readFile = (path: string): string => readFileSync(new URL(path, root), 'utf8');
const readFolder = (folder: string, ending: string): string =>
  readdirSync(new URL(folder, root), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith(ending))
    .map((file) => readFile(`${folder}${file}`))
    .join('\n');

it('an entry → is named in the documentation', () => {
  const pages = readFolder('docs/', '.md');
  expect(
    entries.filter(
      ({ subpath }) =>
        !pages.includes(`\`correctables${subpath.slice(1)}\``) &&
        !pages.includes(`'correctables${subpath.slice(1)}'`),
    ),
  ).toEqual([]);
});

const bindings = entries.filter(({ subpath }) => /^\.\/bindings\/[^/]+$/.test(subpath));

it('a binding → an application can export what it makes: `inferred-exports.ts` has it', () => {
  const exported = readFile('scripts/smoke-package/inferred-exports.ts');
  expect(
    bindings.filter(({ subpath }) => !exported.includes(`'correctables${subpath.slice(1)}'`)),
  ).toEqual([]);
});

it('a binding → the overview of bindings has it', () => {
  const overview = readFile('docs/bindings/overview.md');
  const names = {
    './bindings/cache': 'cached',
    './bindings/causal': 'createCausalStore',
    './bindings/causal-redis': 'causalRedis',
  };
  const nameOf = (subpath: string): string =>
    (names as Record<string, string>)[subpath] ?? basename(subpath);
  expect(bindings.filter(({ subpath }) => !overview.includes(`\`${nameOf(subpath)}\``))).toEqual(
    [],
  );
});

it('a binding → runs the conformance suite', () => {
  // The suite runs on the sites of `redblue` directly, and over the wire on `remote`, which it is.
  const tested = bindings.filter(({ subpath }) => subpath !== './bindings/redblue');
  const suites = ['test/conformance/', 'test/engines/']
    .flatMap((folder) =>
      readdirSync(new URL(folder, root), { recursive: true, encoding: 'utf8' }).map(
        (file) => `${folder}${file}`,
      ),
    )
    .filter((file) => file.endsWith('.test.ts'))
    .map((file) => `${file}\n${readFile(file)}`)
    .filter((text) => text.includes('runConformance('));
  const isTested = (source: string): boolean =>
    suites.some(
      (text) =>
        text.includes(dirname(source)) || text.includes(`/${basename(dirname(source))}.test.ts`),
    );
  expect(tested.filter(({ source }) => !isTested(source))).toEqual([]);
});
