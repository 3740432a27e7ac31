/**
 * The program and the commands of the guide run on two real sites, and print what the page shows.
 */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import type { RedisSite } from '../../../engines/redis/layout.ts';
import { root, runProgram } from '../../support/run-program.ts';
import { readPage } from '../../docs/guide.ts';
import { withRedis } from '../support/redis.ts';

const it = withRedis({ masters: 1, replicas: 0 });
const page = await readPage('bindings/causal-redis');
mkdirSync(join(root, 'build'), { recursive: true });
const folder = mkdtempSync(join(root, 'build/causal-redis-docs-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Puts the servers of this test in the place of those of the page. */
function here(text: string): string {
  const address = (site: RedisSite): string => it.sites.addresses(site)[0] as string;
  return text
    .replaceAll('10.0.0.1:6379', address('dublin'))
    .replaceAll('10.1.0.1:6379', address('oregon'));
}

const run = (args: string): ReturnType<typeof runProgram> =>
  runProgram(['--import', 'tsx', join(root, 'src/cli/main.ts'), ...here(args).split(' ')]);

test('the commands and the program of the page → what the page shows', async () => {
  const flags = '--name shop --redis dublin=10.0.0.1:6379,oregon=10.1.0.1:6379';
  for (const site of ['dublin', 'oregon']) {
    const { stdout } = await run(`causal prepare --site ${site} ${flags}`);
    expect(stdout).toContain(`Prepared ${site}`);
  }
  const path = join(folder, 'program.ts');
  writeFileSync(path, here(page.program));
  const { stdout } = await runProgram(['--import', 'tsx', path]);
  expect(stdout).toBe(page.printed);
  expect((await run(`causal check ${flags}`)).stdout).toContain('dublin: redis 7');
});
