/**
 * The code of the documentation type-checks against the public entries, under the project's own
 * strict settings.
 */
import { readdir, readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { problemsOf } from '../support/compiler.ts';
import { lane, slowCases } from '../support/lane.ts';
import { getSource } from './bundle.ts';
import { pagesWithCode, readPage } from './guide.ts';

const docs = fileURLToPath(new URL('../../docs/', import.meta.url));

/** Where each public entry that the documentation imports lives in the sources. */
function getEntries(codes: Iterable<string>): Record<string, string[]> {
  const names = [...codes].flatMap((code) =>
    [...code.matchAll(/from '(correctables[^']*)'/g)].map(([, name]) => name ?? ''),
  );
  return Object.fromEntries([...new Set(names)].map((name) => [name, [getSource(name)]]));
}

/**
 * The programs of the documentation by path, as files that need not exist. The fast lane checks
 * those of the README.
 */
async function programs(): Promise<Map<string, string>> {
  const found = new Map<string, string>();
  for (const name of ['../README', ...slowCases(...(await pagesWithCode()))]) {
    const { checked, files } = await readPage(name);
    found.set(`${docs}${name}.md.ts`, checked);
    for (const [file, body] of files)
      found.set(`${docs}${name}/../${file}`.replace(/[^/]+\/\.\.\//, ''), body);
  }
  for (const file of slowCases(...(await readdir(`${docs}listings`)))) {
    const path = `${docs}listings/${file}`;
    found.set(path, await readFile(path, 'utf8'));
  }
  return found;
}

/** One that is wrong is among them: the compiler takes its time for each round. */
const wrong = `${docs}guide/wrong.md.ts`;
const WRONG = `import { createClient } from 'correctables';
    import { memory } from 'correctables/bindings/memory';
    import { get } from 'correctables/operations';
    createClient(memory()).invoke(get('x'), { levels: ['stronk'] });`;
const files = await programs();
const checked = new Map([...files, [wrong, WRONG]]);
const problems = problemsOf(checked, getEntries(checked.values()));

test('documentation: every program → no type errors', () => {
  expect(files.size).toBeGreaterThan(lane === 'fast' ? 0 : 10);
  const found = problems.filter(({ file }) => file !== wrong);
  expect(
    found.map(({ file, line, message }) => `${file.slice(docs.length)}:${line} ${message}`),
  ).toEqual([]);
});

test('documentation: a program with a wrong level → is caught', () => {
  const found = { file: wrong, line: 4, message: expect.stringContaining('"stronk"') as string };
  expect(problems).toContainEqual(found);
});
