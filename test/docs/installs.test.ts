/**
 * What a program of a page needs beside the packages it imports: types that are a package of their
 * own.
 */
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { pagesWithCode, readPage } from './guide.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));

/** The packages of types that these programs need. */
function typesFor(code: string): string[] {
  const packages = [...code.matchAll(/ from '([a-z@][^':]*)'/g)].map(([, name = '']) => name);
  const types = packages.map(
    (name) => `@types/${name.startsWith('@') ? name.slice(1).replace('/', '__') : name}`,
  );
  return [...new Set(types)].filter((name) => existsSync(`${root}node_modules/${name}`));
}

test.each(await pagesWithCode())(
  '%s → names the packages of types that its programs need',
  async (name) => {
    const { checked, files } = await readPage(name);
    const page = await readFile(`${root}docs/${name}.md`, 'utf8');
    expect(
      typesFor([checked, ...files.values()].join('\n')).filter((types) => !page.includes(types)),
    ).toEqual([]);
  },
);

test('types that are a package of their own → are noticed', () => {
  expect(typesFor("import { WebSocket } from 'ws';\nimport { z } from 'zod';")).toEqual([
    '@types/ws',
  ]);
});
