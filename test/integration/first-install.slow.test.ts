/**
 * The packed package alone in an empty project: what npm installs with it, and a server that runs
 * at once.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { execute, installPacked } from '../../scripts/smoke-package/project.ts';

const INSTALL_TIMEOUT_MS = 300_000;
const SERVICE = `
  import { defineContract } from 'correctables/contract';
  import { blue, counter, defineService, table } from 'correctables/server';
  import * as z from 'zod';
  const contract = defineContract('c', {
    add: { access: 'write', args: z.object({ n: z.int() }), result: z.object({ n: z.int() }) },
  });
  export const service = defineService(contract, {
    tables: { rows: table({ n: counter() }) },
    shadowOperations: ({ rows }) => ({ add: blue((a) => [rows.row('r').n.add(a.n)]) }),
    generators: { add: (args, { shadow }) => shadow.add(args, args) },
  });
`;

const project = await mkdtemp(join(tmpdir(), 'correctables-first-install-'));
const command = join(project, 'node_modules/correctables/dist/cli/main.js');
const args = ['serve', '--service', 'service.mjs', '--ephemeral', '--port', '0'];

beforeAll(async () => {
  await installPacked(project, ['--prefer-offline', '--strict-allow-scripts']);
  await writeFile(join(project, 'service.mjs'), SERVICE);
}, INSTALL_TIMEOUT_MS);
afterAll(() => rm(project, { recursive: true, force: true }));

test('npm installs four packages, and no script of them', async () => {
  const names = await readdir(join(project, 'node_modules'));
  expect(names.filter((name) => !name.startsWith('.'))).toEqual([
    'correctables',
    'idb',
    'ws',
    'zod',
  ]);
});

test('serve runs without another package, and says how to get the metrics of the process', async () => {
  const server = spawn(process.execPath, [command, ...args, '--json'], {
    cwd: project,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  onTestFinished(() => void server.kill('SIGKILL'));
  const [line] = (await once(createInterface({ input: server.stdout }), 'line')) as [string];
  const { url } = JSON.parse(line) as { url: string };
  const metrics = await (await fetch(`${url}/metrics`)).text();
  expect(metrics).toContain('correctables_serving{site="ireland"} 1\n');
  expect(metrics).toContain(
    '# Metrics of the process need the package prom-client: npm install prom-client\n',
  );
  server.kill('SIGINT');
  await once(server, 'exit');
});

test('--auth-keys without jose → an error that says what to install', async () => {
  await writeFile(join(project, 'keys.json'), '{"keys":[]}');
  const run = execute(process.execPath, [command, ...args, '--auth-keys', 'keys.json'], {
    cwd: project,
  });
  await expect(run).rejects.toMatchObject({
    code: 2,
    stderr: expect.stringContaining(
      'error: --auth-keys needs the package jose. Install it beside correctables: npm install jose',
    ) as string,
  });
});
