/** Modules of the command's flags that are broken, and those that hold something open, from the built package. */
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { Program, root } from '../support/run-program.ts';

const CLI = 'dist/cli/main.js';
const TICKETS = 'demo/tickets/service.ts';
const served = `export { service } from ${JSON.stringify(join(root, TICKETS))};\n`;

/** Serves a module with this text until it has said that it serves, and sends the signal. */
async function servedUntil(signal: NodeJS.Signals, text: string): ReturnType<Program['ended']> {
  await using folder = await modules({ 'service.ts': text });
  const service = join(folder.path, 'service.ts');
  using server = new Program([
    CLI,
    'serve',
    '--service',
    service,
    '--sites',
    'a',
    '--port',
    '0',
    '--ephemeral',
    '--json',
  ]);
  await server.line();
  server.signal(signal);
  return await server.ended();
}

test.each(['SIGINT', 'SIGTERM'] as const)('a module keeps a timer, %s → ends, and says why so late', async (signal) => {
  const { code, stderr } = await servedUntil(signal, `${served}setInterval(() => {}, 60_000);\n`);
  expect(stderr).toContain(`correctables: a module keeps something open after ${signal}`);
  expect(code).toBe(0);
});

test.each(['SIGINT', 'SIGTERM'] as const)('a module closes what is its own at %s → is called, once', async (signal) => {
  const pool = 'const pool = setInterval(() => {}, 60_000);\n';
  const closes = `process.on('${signal}', (...args) => (console.log('closed', ...args), clearInterval(pool)));\n`;
  const { code, stdout, stderr } = await servedUntil(signal, `${served}${pool}${closes}`);
  expect(stdout.match(/^closed .*$/gm)).toEqual([`closed ${signal} ${signal === 'SIGINT' ? 2 : 15}`]);
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
});

/** A folder with these files, as ES modules unless they say otherwise. */
async function modules(files: Readonly<Record<string, string>>): Promise<{ readonly path: string } & AsyncDisposable> {
  const path = await mkdtemp(join(tmpdir(), 'correctables-modules-'));
  await mkdir(join(path, 'node_modules'));
  for (const [name, text] of Object.entries({ 'package.json': '{ "type": "module" }', ...files })) {
    await writeFile(join(path, name), text);
  }
  return { path, [Symbol.asyncDispose]: () => rm(path, { recursive: true }) };
}
