/** The program of the guide runs on a real Redis, and prints what the page shows. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { freePorts } from '../../../engines/ports.ts';
import { startRedis, type RunningRedis } from '../../../engines/redis/single-server.ts';
import { readPage } from '../../docs/guide.ts';
import { root, runProgram } from '../../support/run-program.ts';

let server: RunningRedis;
beforeAll(async () => {
  server = await startRedis({ durable: false });
});
afterAll(() => server.stop());

const page = await readPage('guides/redis-cache');
mkdirSync(join(root, 'build'), { recursive: true });
const folder = mkdtempSync(join(root, 'build/redis-docs-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

test('the program of the page → what the page shows', async () => {
  const path = join(folder, 'program.ts');
  writeFileSync(path, page.program.replaceAll('redis://127.0.0.1:6379', server.url));
  const [port] = await freePorts(1);
  const { stdout, stderr } = await runProgram(['--import', 'tsx', path], { PORT: String(port) });
  expect({ stdout, stderr }).toEqual({ stdout: page.printed, stderr: '' });
});
