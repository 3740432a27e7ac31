/**
 * React has no contexts and effects under its condition `react-server`: what is for a server works
 * there.
 */
import { execFileSync } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { build } from 'esbuild';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { root } from '../../scripts/smoke-package/project.ts';

const PROGRAM = `
import { createClient } from 'correctables';
import { tiered } from 'correctables/bindings/tiered';
import { get } from 'correctables/operations';
import { dehydrate, prefetch } from 'correctables/react';

const store = createClient(tiered(['origin'], { origin: () => 12 }));
await prefetch(store, get('stock'));
console.log(JSON.stringify(dehydrate(store)));
await store.close();
`;

let folder: string;

/** The package resolves itself by its name from a folder of its own. */
beforeAll(async () => {
  folder = await mkdtemp(join(root, 'build/react-server-'));
  await writeFile(join(folder, 'plain.mjs'), PROGRAM);
});

afterAll(() => rm(folder, { recursive: true, force: true }));

function run(file: string): unknown {
  const output = execFileSync(
    process.execPath,
    ['--conditions', 'react-server', join(folder, file)],
    {
      encoding: 'utf8',
    },
  );
  return JSON.parse(output);
}

const EXPECTED = [
  { operation: { name: 'get' }, views: [{ level: 'origin', final: true, value: 12 }] },
];

test('a program under the condition react-server → prefetches and dehydrates', () => {
  expect(run('plain.mjs')).toMatchObject(EXPECTED);
});

test('a bundle under the condition react-server → the same', async () => {
  await build({
    entryPoints: [join(folder, 'plain.mjs')],
    outfile: join(folder, 'bundle.mjs'),
    bundle: true,
    format: 'esm',
    platform: 'node',
    conditions: ['react-server'],
    banner: {
      js: "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);",
    },
    logLevel: 'error',
  });
  expect(run('bundle.mjs')).toMatchObject(EXPECTED);
});
