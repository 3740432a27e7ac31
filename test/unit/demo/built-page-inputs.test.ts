/** What makes the demos build their pages again. */
import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { beforeEach, expect, test } from 'vitest';
import { inputsHash } from '../../../demo/page-cache/inputs.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

let root: string;
const write = async (path: string, text: string): Promise<void> => {
  await mkdir(dirname(join(root, path)), { recursive: true });
  await writeFile(join(root, path), text);
};

beforeEach(async () => {
  root = temporaryFolder();
  await write('demo/shop/page.ts', 'one');
  await write('demo/shop/style.css', 'red');
  await write('dist/index.js', 'built');
  await write('dist/index.d.ts', 'types');
});

test('the inputs stay the same while nothing has changed', async () => {
  expect(await inputsHash(root)).toBe(await inputsHash(root));
});

test.each([
  ['a source', 'demo/shop/page.ts'],
  ['a style', 'demo/shop/style.css'],
  ['the built package', 'dist/index.js'],
  ['a new file', 'demo/shop/new.ts'],
  ['what is installed', 'node_modules/.package-lock.json'],
  ['what the package exports', 'package.json'],
])('%s has changed → another', async (_, path) => {
  const before = await inputsHash(root);
  await write(path, 'two');
  expect(await inputsHash(root)).not.toBe(before);
});
