/**
 * Modules of the command's flags that are broken, and those that hold something open, from the
 * built package.
 */
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, type AddressInfo } from 'node:net';
import { constants, tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { built } from '../support/programs.ts';
import { Program, root, runProgram } from '../support/run-program.ts';

const CLI = 'dist/cli/main.js';
/**
 * Built, as the modules here are JavaScript where nothing is about TypeScript, which takes longer
 * to load.
 */
const TICKETS = await built('demo/tickets/service.ts');
const served = `export { service } from ${JSON.stringify(TICKETS)};\n`;

/** Serves a module with this text until it has printed its address, and sends the signal. */
async function servedUntil(signal: NodeJS.Signals, text: string): ReturnType<Program['ended']> {
  await using folder = await modules({ 'service.mjs': text });
  using server = serveModule(folder.path);
  await server.line();
  server.signal(signal);
  return await server.ended();
}

test.each(['SIGINT', 'SIGTERM'] as const)(
  'a module keeps a timer, %s → ends, and reports the cause of the delay',
  async (signal) => {
    const { code, stderr } = await servedUntil(signal, `${served}setInterval(() => {}, 60_000);\n`);
    expect(stderr).toContain(`error: a module keeps something open after ${signal}`);
    expect(code).toBe(0);
  },
);

test.each(['SIGINT', 'SIGTERM'] as const)(
  'a module closes what is its own at %s → is called, once',
  async (signal) => {
    const pool = 'const pool = setInterval(() => {}, 60_000);\n';
    const closes = `process.on('${signal}', (...args) => (console.log('closed', ...args), clearInterval(pool)));\n`;
    const { code, stdout, stderr } = await servedUntil(signal, `${served}${pool}${closes}`);
    expect(stdout.match(/^closed .*$/gm)).toEqual([
      `closed ${signal} ${signal === 'SIGINT' ? 2 : 15}`,
    ]);
    expect({ code, errors: stderr.match(/^error: .*/gm) }).toEqual({ code: 0, errors: null });
  },
);

test.each(['SIGHUP', 'SIGUSR2'] as const)(
  'a module listens for %s → is called, each time, and goes on',
  async (signal) => {
    const text = `${served}process.on('${signal}', (...args) => console.log('heard', ...args));\n`;
    await using folder = await modules({ 'service.mjs': text });
    using server = serveModule(folder.path);
    await server.line();
    for (let n = 0; n < 2; n++) {
      server.signal(signal);
      expect(await server.line()).toBe(`heard ${signal} ${constants.signals[signal]}`);
    }
    server.signal('SIGTERM');
    expect(await server.ended()).toMatchObject({ code: 0, stderr: '' });
  },
);

test('a module listens for SIGHUP once, or no module does → SIGHUP ends the process', async () => {
  const once = `${served}process.once('SIGHUP', () => setImmediate(() => console.log('heard')));\n`;
  for (const text of [once, served]) {
    await using folder = await modules({ 'service.mjs': text });
    using server = serveModule(folder.path);
    await server.line();
    server.signal('SIGHUP');
    if (text === once) {
      expect(await server.line()).toBe('heard');
      server.signal('SIGHUP');
    }
    expect(await server.ended()).toMatchObject({ code: null, stderr: '' });
  }
});

test('stdout is closed, and a module goes on writing → goes on serving', async () => {
  const text = `${served}process.on('SIGHUP', () => {\n  console.log('lost');\n  console.error('written');\n});\n`;
  await using folder = await modules({ 'service.mjs': text });
  using server = serveModule(folder.path);
  await server.line();
  server.leaveStdout();
  for (let n = 1; n <= 3; n++) {
    server.signal('SIGHUP');
    await server.waitForStderr(n);
  }
  server.signal('SIGTERM');
  expect(await server.ended()).toMatchObject({ code: 0 });
});

test('a module throws while clients are served → its own error, file and line; exit code 1', async () => {
  await using folder = await modules({
    'service.ts': `${served}setTimeout(() => {\n  throw new Error('boom');\n}, 0);\n`,
  });
  const service = join(folder.path, 'service.ts');
  const args = ['--service', service, '--skip-color-check', '--port', '0', '--ephemeral'];
  const { code, stderr } = await runProgram([CLI, 'serve', ...args]);
  expect(stderr).toMatch(/^error: nothing caught this error, so the process ends: Error: boom\n/m);
  expect(stderr).toMatch(/service\.ts:3:9/);
  expect(stderr).not.toContain('node:internal/event_target');
  expect(code).toBe(1);
});

test.each([
  ['an error', { 'a.mjs': "const a = 1;\nthrow new Error('boom');\n" }, 'boom', 'a.mjs:2:7'],
  [
    'a mistake',
    { 'a.mjs': 'const e = undefined;\nexport const a = e.b;\n' },
    "reading 'b'",
    'a.mjs:2:20',
  ],
  [
    'in what it imports',
    { 'a.mjs': "import './b.mjs';\n", 'b.mjs': "\nthrow new Error('boom');\n" },
    'boom',
    'b.mjs:2:7',
  ],
  [
    'CommonJS',
    { 'a.cjs': "module.exports = {};\nthrow new Error('boom');\n" },
    'boom',
    'a.cjs:2:7',
  ],
  [
    'TypeScript',
    { 'a.ts': 'type A = 1;\nconst a: A = 1;\nthrow new Error(`boom ${a}`);\n' },
    'boom 1',
    'a.ts:3:7',
  ],
  [
    'in a dependency',
    {
      'a.mjs': "import { b } from './node_modules/b.mjs';\n\nb();\n",
      'node_modules/b.mjs': "export const b = () => {\n  throw new Error('boom');\n};\n",
    },
    'boom',
    'a.mjs:3:1',
  ],
  [
    'in ours',
    {
      'a.mjs': `import { defineService } from '${join(root, 'dist/server/index.js')}';\n\nexport const a = defineService({});\n`,
    },
    'defineService',
    'a.mjs:3:18',
  ],
  ['null', { 'a.mjs': 'throw null;\n' }, 'null', undefined],
  ['a text', { 'a.mjs': "throw 'boom';\n" }, "'boom'", undefined],
  ['an import that is not there', { 'a.mjs': "import './gone.mjs';\n" }, 'gone.mjs', undefined],
] as const)(
  'a module throws while it is loaded: %s → exit code 2, what and where',
  async (_what, files, message, at) => {
    await using folder = await modules(files);
    for (const flag of ['service', 'auth']) {
      const path = join(folder.path, Object.keys(files)[0] ?? '');
      const args = flag === 'auth' ? ['--auth', path, '--service', TICKETS] : ['--service', path];
      const { code, stderr } = await runProgram([
        CLI,
        'serve',
        '--ephemeral',
        '--port',
        '0',
        ...args,
      ]);
      expect(stderr).toContain(`error: --${flag} names ${path}, which threw while it was loaded: `);
      expect(stderr).toContain(message);
      if (at !== undefined) expect(stderr).toContain(`(${join(folder.path, at)})`);
      expect(code).toBe(2);
    }
  },
);

test('a module is a directory → exit code 2, and the error names it', async () => {
  await using folder = await modules({});
  const { code, stderr } = await runProgram([
    CLI,
    'serve',
    '--ephemeral',
    '--service',
    folder.path,
  ]);
  expect(stderr).toContain(`--service names ${folder.path}, which is a directory`);
  expect(code).toBe(2);
});

test('a module awaits a promise that never settles → the error names it, exit code 13 as of Node', async () => {
  await using folder = await modules({ 'a.mjs': 'await new Promise(() => {});\n' });
  const path = join(folder.path, 'a.mjs');
  const { code, stderr } = await runProgram([CLI, 'serve', '--ephemeral', '--service', path]);
  expect(stderr).toBe(
    `error: --service names ${path}, which never finished loading (a top-level await)\n`,
  );
  expect(code).toBe(13);
});

test('a port that is taken → exit code 2, the flag', async () => {
  const taken = createServer().listen(0, '127.0.0.1');
  await new Promise((resolve) => taken.once('listening', resolve));
  const { port } = taken.address() as AddressInfo;
  const args = ['--ephemeral', '--skip-color-check', '--service', TICKETS, '--port', `${port}`];
  const { code, stderr } = await runProgram([CLI, 'serve', ...args]);
  taken.close();
  expect(stderr).toContain(`--port is ${port}, where another program listens`);
  expect(code).toBe(2);
});

test.each([
  ['eu-us', 'eu-us is for the sites ireland, frankfurt, virginia, and has no round trip for a-b'],
  ['a-b=20,a-c=20', 'gives a-c, which is no pair of the sites a, b.'],
  ['a-b=20,b-a=20', 'gives a-b, which is set as b-a too: set it once.'],
])('sites a,b with --latency %s → exit code 2, the pair', async (latency, message) => {
  const args = [
    '--ephemeral',
    '--skip-color-check',
    '--service',
    TICKETS,
    '--sites',
    'a,b',
    '--latency',
    latency,
    '--port',
    '0',
  ];
  const { code, stderr } = await runProgram([CLI, 'serve', ...args]);
  expect(stderr).toContain(`--latency ${message}`);
  expect(code).toBe(2);
});

/**
 * Serves `service.mjs` of the folder; its first line has its address. Its labels are checked
 * elsewhere.
 */
function serveModule(folder: string): Program {
  const args = [
    '--service',
    join(folder, 'service.mjs'),
    '--skip-color-check',
    '--sites',
    'a',
    '--port',
    '0',
  ];
  return new Program([CLI, 'serve', ...args, '--ephemeral', '--json']);
}

/** A folder with these files, as ES modules unless they say otherwise. */
async function modules(
  files: Readonly<Record<string, string>>,
): Promise<{ readonly path: string } & AsyncDisposable> {
  const path = await mkdtemp(join(tmpdir(), 'correctables-modules-'));
  await mkdir(join(path, 'node_modules'));
  for (const [name, text] of Object.entries({ 'package.json': '{ "type": "module" }', ...files })) {
    await writeFile(join(path, name), text);
  }
  return { path, [Symbol.asyncDispose]: () => rm(path, { recursive: true }) };
}
