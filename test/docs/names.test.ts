/**
 * What pages name beside their programs is called so: functions in comments and in the text, which
 * no compiler sees.
 */
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import * as z from 'zod/mini';
import { pageNames, pagesWithEngines, readPage } from './guide.ts';

const src = fileURLToPath(new URL('../../src', import.meta.url));
/** A name that is called, and is no member of something else. */
const CALLED = /(?<![\w.$#])[a-z]\w*(?=\()/gi;

const files = (await readdir(src, { recursive: true })).filter((file) => file.endsWith('.ts'));
const sources = await Promise.all(files.map((file) => readFile(join(src, file), 'utf8')));
const known = new Set([
  ...Object.keys(z),
  ...sources.flatMap((source) => source.match(/[a-z]\w*/gi) ?? []),
]);

/**
 * The names that a page calls in passing, and that neither the package, nor zod, nor the page
 * itself has.
 */
function unknownIn({
  mentioned,
  checked,
}: {
  readonly mentioned: string;
  readonly checked: string;
}): string[] {
  const own = new Set(checked.replaceAll(/\/\/ .*$/gm, '').match(/[a-z]\w*/gi));
  return (mentioned.match(CALLED) ?? []).filter((name) => !known.has(name) && !own.has(name));
}

test.each([...(await pageNames()), ...pagesWithEngines])(
  '%s → calls things by their names',
  async (name) => {
    expect(unknownIn(await readPage(name))).toEqual([]);
  },
);

test('a page with a name that is spelt otherwise → is caught', () => {
  const mentioned = 'in a page: indexedDBStore(…), or indexedDbStore(…)';
  expect(unknownIn({ mentioned, checked: '' })).toEqual(['indexedDBStore']);
});
