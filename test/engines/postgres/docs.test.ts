/** The program of the guide runs on real servers, and prints what the page shows. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { root, runProgram } from '../../support/run-program.ts';
import { readPage } from '../../docs/guide.ts';
import { withPostgres } from '../support/postgres.ts';

const it = withPostgres({ replicas: 1 });
const page = await readPage('bindings/postgres');
mkdirSync(join(root, 'build'), { recursive: true });
const folder = mkdtempSync(join(root, 'build/postgres-docs-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Puts the servers of this test in the place of those of the page. */
function here(text: string): string {
  const address = (name: string): string =>
    `127.0.0.1:${it.servers.server(name).clientPorts.ireland}`;
  return text
    .replaceAll('10.0.0.1', address('primary'))
    .replaceAll('10.0.0.2', address('replica-1'));
}

test('the program of the page → what the page shows', async () => {
  await it.servers.query('primary', 'create role app superuser login');
  await it.servers.query('primary', 'create database shop owner app');
  await it.servers.untilCaughtUp('replica-1');
  const path = join(folder, 'program.ts');
  writeFileSync(path, here(page.program));
  const { stdout } = await runProgram(['--import', 'tsx', path]);
  expect(stdout).toBe(page.printed);
});
