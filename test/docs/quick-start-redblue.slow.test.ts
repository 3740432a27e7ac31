/**
 * The project of docs/start/quick-start-redblue.md: compiles, serves and prints what the page
 * shows.
 */
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { Program, root, runProgram } from '../support/run-program.ts';
import { readPage } from './guide.ts';

const TSC = join(root, 'node_modules/typescript/bin/tsc');
const CORRECTABLES = join(root, 'dist/cli/main.js');
const PORT = /127\.0\.0\.1:7420/g;

const page = await readFile(join(root, 'docs/start/quick-start-redblue.md'), 'utf8');
const { files, printed } = await readPage('start/quick-start-redblue');

/**
 * Writes the files of the page into a directory of the package: there its name resolves to the
 * built package itself.
 */
async function createProject(name: string): Promise<string> {
  const directory = join(root, 'build', `${name}-${process.pid}`);
  await mkdir(directory, { recursive: true });
  onTestFinished(() => rm(directory, { recursive: true }));
  const [, config = ''] = /```\n(\{\n[\s\S]*?)```/.exec(page) ?? [];
  for (const [file, text] of [...files, ['tsconfig.json', config] as const])
    await writeFile(join(directory, file), text);
  return directory;
}

// The compiler and the server work for about twenty seconds. On a busy machine that is a minute.
test(
  'quick-start-redblue: its files compile, its server starts, its client prints what the page shows',
  { timeout: 180_000 },
  async () => {
    const directory = await createProject('quick-start');
    expect(await runProgram([TSC, '-p', directory])).toMatchObject({ code: 0, stdout: '' });

    const served = [
      'serve',
      '--service',
      join(directory, 'service.js'),
      '--latency',
      'eu-us',
      '--ephemeral',
    ];
    const server = new Program([CORRECTABLES, ...served, '--port', '0']);
    // Also if the test takes too long, which leaves this function waiting.
    onTestFinished(() => server[Symbol.dispose]());
    const [address = ''] = /127\.0\.0\.1:\d+/.exec(await server.line()) ?? [];
    const client = join(directory, 'client.js');
    await writeFile(client, (await readFile(client, 'utf8')).replaceAll(PORT, address));
    expect(await runProgram([client])).toEqual({ code: 0, stdout: printed, stderr: '' });
  },
);

test('quick-start-redblue: the command prints the counterexample that the page shows', async () => {
  const [, shown = 'none'] = /```\n(take \(red\):\n[\s\S]*?)```/.exec(page) ?? [];
  const service = join(await createProject('quick-start-label'), 'service.ts');
  const { code, stdout } = await runProgram([
    CORRECTABLES,
    'label',
    service,
    '--runs',
    '2000',
    '--seed',
    '1',
  ]);
  expect(code).toBe(0);
  expect(stdout).toContain(shown);
});
