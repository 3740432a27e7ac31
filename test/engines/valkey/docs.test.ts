/** The program of the guide runs on real servers, and prints what the page shows. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { root, runProgram } from '../../support/run-program.ts';
import { readPage } from '../../docs/guide.ts';
import { withValkeyReplicas } from '../support/valkey-replicas.ts';

const it = withValkeyReplicas('redis');
const page = await readPage('bindings/valkey');
mkdirSync(join(root, 'build'), { recursive: true });
const folder = mkdtempSync(join(root, 'build/valkey-docs-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

test('the program of the page → what the page shows', async () => {
  const { primary, replicas } = it.sites;
  const path = join(folder, 'program.ts');
  const program = page.program
    .replaceAll('10.0.0.1:6379', primary)
    .replaceAll('10.0.0.2:6379', replicas[0]!);
  writeFileSync(path, program);
  const { stdout } = await runProgram(['--import', 'tsx', path]);
  expect(stdout).toBe(page.printed);
});
