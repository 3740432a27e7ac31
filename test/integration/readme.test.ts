/** The README is true: its example runs as pasted, its commands exist. */
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { root, runProgram } from '../support/run-program.ts';

const readme = await readFile(join(root, 'README.md'), 'utf8');

test('README: the example runs as pasted', async () => {
  const [, example] = /```ts\n([\s\S]*?)```/.exec(readme) ?? [];
  // In the package's folder its name resolves to the built package itself.
  const folder = join(root, 'build', `readme-${process.pid}`);
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, 'example.mts'), example ?? '');
  const { code, stdout, stderr } = await runProgram(['--import', 'tsx', join(folder, 'example.mts')]);
  await rm(folder, { recursive: true });
  expect(stderr).toBe('');
  expect(code).toBe(0);
  expect(stdout.split('\n')).toEqual([
    'weak false undefined',
    "strong true [ 'ad-1', 'ad-2' ]",
    'content of ad-1,ad-2',
    "early: { item: 'seat 1' }",
    '',
  ]);
});

test('README: every npm script that it names exists', async () => {
  const { scripts } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8')) as { scripts: object };
  const named = [...readme.matchAll(/npm (?:run )?([a-z:]+)/g)].map(([, name]) => name as string);
  expect(named.length).toBeGreaterThan(4);
  for (const name of named.filter((each) => !['ci', 'install', 'pack'].includes(each))) {
    expect(Object.keys(scripts)).toContain(name);
  }
});

test('README: every file that it points to is there', async () => {
  const targets = [...readme.matchAll(/\]\(([^)#:]+)\)/g)].map(([, path]) => path as string);
  expect(targets.length).toBeGreaterThan(4);
  for (const path of targets) expect(await readFile(join(root, path)), path).toBeDefined();
});
