/**
 * The guide to Express, React and PostgreSQL, and the example that is its result, have the same
 * files.
 */
import { readdir, readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { readPage } from './guide.ts';

const folder = new URL('../../examples/express-react-postgres/', import.meta.url);
const guide = new URL('../../docs/guides/express-react-postgres.md', import.meta.url);
/** A reader writes these with commands of the guide, or not at all. */
const WITHOUT_BLOCK = ['README.md', 'package.json'];

interface Manifest {
  readonly scripts: Readonly<Record<string, string>>;
  readonly dependencies: Readonly<Record<string, string>>;
  readonly devDependencies: Readonly<Record<string, string>>;
}

const readText = (name: string): Promise<string> => readFile(new URL(name, folder), 'utf8');

test('each block of the guide is a file of the example, and each file is a block', async () => {
  const { example } = await readPage('guides/express-react-postgres');
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = entries
    .filter((entry) => entry.isFile())
    .map((entry) =>
      `${entry.parentPath}/${entry.name}`
        .split('/express-react-postgres/')
        .pop()!
        .replace(/^\//, ''),
    );
  expect([...example.keys()].toSorted()).toEqual(
    files.filter((name) => !WITHOUT_BLOCK.includes(name)).toSorted(),
  );
  for (const [name, text] of example) expect(text, name).toBe(await readText(name));
});

test('the commands of the guide install the packages of the example, and set its scripts', async () => {
  const text = await readFile(guide, 'utf8');
  const manifest = JSON.parse(await readText('package.json')) as Manifest;
  const installed = (flags: string): string[] =>
    [...text.matchAll(/^npm install( --save-dev)? (.*)$/gm)]
      .filter(([, dev = '']) => dev.trim() === flags)
      .flatMap(([, , names = '']) => names.split(' '));
  // The example gets the packed package from its test.
  expect(installed('').toSorted()).toEqual(
    ['correctables', ...Object.keys(manifest.dependencies)].toSorted(),
  );
  expect(installed('--save-dev').toSorted()).toEqual(
    Object.keys(manifest.devDependencies).toSorted(),
  );
  const scripts = [...text.matchAll(/scripts\.(\w+)="([^"]*)"/g)].map(([, name, command]) => [
    name,
    command,
  ]);
  expect(Object.fromEntries(scripts)).toEqual(manifest.scripts);
});
