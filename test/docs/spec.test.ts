/** What the pages of docs/spec name is there: files and folders, tests, planted faults. */
import { existsSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { basename } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const root = fileURLToPath(new URL('../../', import.meta.url));

/**
 * The names of the files under a folder that end so, without the ending; slow tests have no other
 * name than fast ones.
 */
async function namesIn(folder: string, ending: string): Promise<string[]> {
  const files = await readdir(`${root}${folder}`, { recursive: true });
  return files
    .filter((file) => file.endsWith(ending))
    .map((file) => basename(file, ending).replace(/\.slow$/, ''));
}

const bugFiles = [
  'injected-bugs',
  'cluster-bugs',
  'etcd-bugs',
  'partition-bugs',
  'causal/planted-faults',
].map((name) => readFile(`${root}test/simulator/${name}.ts`, 'utf8'));
const planted = (await Promise.all(bugFiles)).join('');
/** What a letter before a name stands for. */
const SHOWN: Readonly<Record<string, readonly string[]>> = {
  U: await namesIn('test/unit', '.test.ts'),
  I: await namesIn('test/integration', '.test.ts'),
  Q: await namesIn('test/property', '.test.ts'),
  C: await namesIn('test/conformance', '.test.ts'),
  J: await namesIn('research', '.java'),
  P: [...planted.matchAll(/'([\w-]+)'/g)].map(([, name = '']) => name),
};
const tests = await namesIn('test', '.test.ts');

/** Whether one of the names is this one, of which the end may be left out. */
function isAmong(names: readonly string[], name: string): boolean {
  return name.endsWith('…')
    ? names.some((item) => item.startsWith(name.slice(0, -1)))
    : names.includes(name);
}

/**
 * Files and folders of this repository as pages write them: of braces, each; of a star, the folder
 * before it.
 */
function pathsIn(text: string): string[] {
  return [
    ...text.matchAll(
      /`((?:src|test|bench|demo|docs|scripts|engines|research)\/[\w./*{},-]+)[^`\n]*`/g,
    ),
  ].flatMap(([, path = '']) => {
    const [, before = '', inner, after = ''] = /^(.*)\{(.*)\}(.*)$/.exec(path) ?? [];
    return inner === undefined
      ? [path]
      : inner.split(',').map((part) => `${before}${part}${after}`);
  });
}

function isThere(path: string): boolean {
  const [whole = ''] = path.split('*');
  const found = path === whole ? whole : whole.replace(/[^/]*$/, '');
  return ['', '.ts', '.test.ts', '.mjs'].some((ending) => existsSync(`${root}${found}${ending}`));
}

/** What a page names that is not there. */
function missingIn(text: string): string[] {
  const shown = text
    .split('\n')
    .filter((line) => /^\| [A-Z]+-?\d/.test(line))
    .flatMap((line) => [...(line.split(' | ').at(-1) ?? '').matchAll(/\b([A-Z]) `([^`]+)`/g)])
    .filter(([, letter = '', name = '']) => !isAmong(SHOWN[letter] ?? [], name))
    .map(([whole]) => whole);
  const alone = [...text.matchAll(/`([\w-]+)\.test\.ts`/g)]
    .filter(([, name = '']) => !tests.includes(name))
    .map(([whole]) => whole);
  return [...shown, ...alone, ...pathsIn(text).filter((path) => !isThere(path))];
}

/** Its tables have short names of their own for folders, which its own test knows. */
const OWN_TEST = 'zookeeper-client.md';
const pages = (await readdir(`${root}docs/spec`)).filter(
  (page) => page.endsWith('.md') && page !== OWN_TEST,
);

test.each(['ARCHITECTURE.md', ...pages.map((page) => `spec/${page}`)])(
  '%s → names what is there',
  async (page) => {
    expect(missingIn(await readFile(`${root}docs/${page}`, 'utf8'))).toEqual([]);
  },
);

test.each([
  ['a test of another name', '| X1 | So it is. | U `certifiers` |', ['U `certifiers`']],
  [
    'a test in another room',
    '| X1 | So it is. | U `certifier`, I `certifier` |',
    ['I `certifier`'],
  ],
  ['half the name of a planted fault', '| X1 | So it is. | P `no-sy` |', ['P `no-sy`']],
  ['a directory that has moved', 'U = `test/unit/stores`', ['test/unit/stores']],
  ['a test that has moved', 'See `folder-locks.test.ts`.', ['`folder-locks.test.ts`']],
  ['a letter that nothing stands for', '| X1 | So it is. | Z `certifier` |', ['Z `certifier`']],
])('a page with %s → is caught', (_, text, missing) => {
  expect(missingIn(text)).toEqual(missing);
});
