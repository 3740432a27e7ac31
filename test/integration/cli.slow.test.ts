/** The `correctables` command as a user runs it, from the built package. */
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { createClient } from 'correctables';
import { redblue } from 'correctables/bindings/redblue';
import { dequeue, enqueue } from 'correctables/operations';
import { ticketShop } from '../../demo/tickets/contract.ts';
import { built } from '../support/programs.ts';
import { Program, runProgram } from '../support/run-program.ts';

const CLI = 'dist/cli/main.js';
const SERVICE = 'demo/tickets/service.ts';
/** The same as JavaScript, where nothing is about TypeScript, which takes longer to load. */
const BUILT = await built(SERVICE);

/** Serves a module of `test/support`; its labels are looked at elsewhere. */
async function serving(name: string, env: NodeJS.ProcessEnv = {}): Promise<Program> {
  const service = await built(`test/support/${name}.ts`);
  const args = [
    '--service',
    service,
    '--skip-color-check',
    '--sites',
    'a',
    '--port',
    '0',
    '--ephemeral',
  ];
  return new Program([CLI, 'serve', ...args], env);
}

/** The words of `serve` with these flags. */
const served = (...args: readonly string[]): string[] => ['serve', '--service', BUILT, ...args];

describe('correctables serve', () => {
  test.each(['SIGINT', 'SIGTERM'] as const)(
    'serves three sites, %s → ends cleanly',
    async (signal) => {
      using server = new Program([
        CLI,
        'serve',
        '--service',
        SERVICE,
        '--port',
        '0',
        '--json',
        '--ephemeral',
      ]);
      const { url, redLeader, sites } = JSON.parse(await server.line()) as {
        url: string;
        redLeader: string;
        sites: Record<string, string>;
      };
      expect(redLeader).toBe('ireland');
      expect(Object.keys(sites)).toEqual(['ireland', 'frankfurt', 'virginia']);
      expect(await (await fetch(`${url}/health`)).json()).toMatchObject({ status: 'ok' });
      const ireland = createClient(
        redblue(ticketShop, { url: sites['ireland'] as string, WebSocket }),
      );
      const virginia = createClient(
        redblue(ticketShop, { url: sites['virginia'] as string, WebSocket }),
      );
      await ireland.invoke(enqueue('concert', 'seat 1'));
      expect(await virginia.invokeStrong(dequeue('concert'))).toEqual({ item: 'seat 1' });
      await Promise.all([ireland.close(), virginia.close()]);
      server.signal(signal);
      const { code, stderr } = await server.ended();
      const stopping =
        signal === 'SIGINT'
          ? expect.stringMatching(/^stopping: .*Press Ctrl-C again to stop at once\.\n$/)
          : '';
      expect({ code, stderr }).toEqual({ code: 0, stderr: stopping });
    },
  );

  test('without a service → the error shows a line that serves one', async () => {
    const { stderr } = await runProgram([CLI, 'serve']);
    const [, service = ''] = /correctables serve --service "(.*)" --ephemeral/.exec(stderr) ?? [];
    using server = new Program([CLI, 'serve', '--service', service, '--ephemeral', '--port', '0']);
    expect(await server.line()).toContain('serving at http://127.0.0.1:');
  });

  test('errors have colors if the environment asks for them', async () => {
    expect((await runProgram([CLI, 'serve'], { FORCE_COLOR: '1' })).stderr).toContain(
      '\u001B[31merror:\u001B[39m ',
    );
    expect((await runProgram([CLI, 'serve'])).stderr).toMatch(/^error: /);
  });

  test.each([
    ['', 64],
    ['--max-semi-space-size=16', 16],
  ])('NODE_OPTIONS=%s → young objects have twice %d MiB at most', async (options, semiSpaceMib) => {
    using server = await serving('heap-size-service', { NODE_OPTIONS: options });
    const { youngMib } = JSON.parse(await server.line()) as { readonly youngMib: number };
    expect(youngMib).toBe(2 * semiSpaceMib);
    await server.line();
    server.signal('SIGTERM');
    expect(await server.ended()).toMatchObject({ code: 0, stderr: '' });
  });

  test('SIGTERM while its service is loaded → ends by the signal', async () => {
    using server = await serving('slow-service');
    expect(await server.line()).toBe('loading');
    server.signal('SIGTERM');
    expect(await server.ended()).toMatchObject({ code: null });
  });

  test('an address that this machine does not have yet → waits for it, and reports that', async () => {
    using server = new Program([
      CLI,
      ...served(
        '--skip-color-check',
        '--ephemeral',
        '--host',
        '192.0.2.1',
        '--allow-unauthenticated',
      ),
    ]);
    await server.waitForStderr(1);
    server.signal('SIGTERM');
    const { stderr } = await server.ended();
    expect(stderr).toContain(
      'cannot listen on 192.0.2.1: this machine does not have the address yet',
    );
  });

  test('SIGTERM twice, the thread that serves is stuck → ends by the second', async () => {
    using server = await serving('stuck-service');
    while ((await server.line()) !== 'stuck');
    // The first is passed on to the thread. It is unknown when it gets there, so send more until
    // one counts.
    const again = setInterval(() => server.signal('SIGTERM'), 100);
    try {
      expect(await server.ended()).toMatchObject({ code: null });
    } finally {
      clearInterval(again);
    }
  });

  test('started → prints its addresses, authentication, data and HTTP options; with --json the same as data', async () => {
    const service = ['--service', BUILT, '--skip-color-check', '--sites', 'ireland,near'];
    const args = [CLI, 'serve', ...service, '--port', '0', '--ephemeral'];
    using plain = new Program([...args, '--origins', 'https://shop.example, app://shop']);
    const url = /^serving at (http:\/\/127\.0\.0\.1:\d+)$/.exec(await plain.line())?.[1] as string;
    const lines = [await plain.line(), await plain.line(), await plain.line(), await plain.line()];
    lines.push(await plain.line(), await plain.line());
    const address = url.replace('http', 'ws');
    expect(lines).toEqual([
      `  ireland  ${address}/ireland  red leader`,
      `  near     ${address}/near`,
      'who may connect: programs of this machine only, without a token',
      'pages that may connect: its own, https://shop.example, app://shop',
      'data: in memory, gone with this process',
      'over HTTP: /health /ready /sites /metrics',
    ]);
    for (const path of ['/health', '/ready', '/sites', '/metrics']) {
      expect((await fetch(`${url}${path}`)).status).toBe(200);
    }
    using open = new Program([...args, '--host', '0.0.0.0', '--allow-unauthenticated', '--json']);
    const reported = JSON.parse(await open.line()) as { readonly url: string };
    expect(reported).toMatchObject({
      redLeader: 'ireland',
      sites: { ireland: `${reported.url.replace('http', 'ws')}/ireland` },
      access: 'everybody',
      origins: [],
      data: null,
      http: ['/health', '/ready', '/sites', '/metrics'].map((path) => `${reported.url}${path}`),
    });
  });

  test.each([
    [['serve'], '--service is required'],
    [['serve', '--service', 'nowhere.js'], 'there is no such file'],
    [['serve', '--service', 'demo/tickets/contract.ts'], 'exports no service'],
    [served('--red-leader', 'mars'), '--red-leader takes one of ireland, frankfurt, virginia'],
    [served('--check-invariants', 'maybe'), '--check-invariants takes on or off'],
    [served('--max-attempts', '0'), '--max-attempts must be an integer'],
    [served('--sites', 'ireland,ireland'), '--sites names a site twice'],
    [served('--latency', 'ireland-frankfurt'), '--latency takes none, eu-us'],
    [
      served('--latency', 'ireland-frankfurt=1,ireland-frankfurt=2'),
      '--latency names ireland-frankfurt twice',
    ],
    [served('--allow-unauthenticated=true'), '--allow-unauthenticated takes no value'],
    [served('--allowUnauthenticated=true'), '--allow-unauthenticated takes no value'],
    [
      served('--skip-color-check', '--ephemeral', '--host', 'fe80::1', '--allow-unauthenticated'),
      '--host is fe80::1, where nothing can listen',
    ],
    [served('--port', 'abc'), '--port must be an integer'],
    [served('--host', '0.0.0.0', '--port', '0', '--ephemeral'), '--host is 0.0.0.0'],
    [served('--data', ''), '--data needs a value'],
    [served('--port'), '--port needs a value'],
    [served('--maxAttempts=010.0'), '--max-attempts must be an integer from 1 on, got "010.0"'],
    [served('--port', '1', '--port', '2'), '--port was passed more than once'],
    [served('--ephemeral', '--data', 'x'), '--data names a directory'],
    [served('now'), 'not "now"'],
    [served('--origins', 'https://a.example,'), '--origins takes origins'],
    [served('--origins', 'https://a.example/'), 'browsers say "https://a.example"'],
    [served('--origins', 'https://A.example:443'), 'browsers say "https://a.example"'],
    [served('--origins', 'a.example'), 'not "a.example"'],
    [served('--sties', 'ireland'), '--sties is an unknown flag'],
    [served('--JSON'), ' --JSON is an unknown flag'],
    [served('--__proto__', '4'), ' --__proto__ is an unknown flag'],
    [served('--port', '-4'), '--port takes no number below 0, not "-4"'],
    [served('--auth', 'nowhere.js'), '--auth names nowhere.js'],
    [served('--auth', BUILT), 'exports no `authenticate`: export one, or give --auth-keys'],
    [served('--auth-keys', 'nowhere.json'), '--auth-keys names nowhere.json'],
    [['sevre'], 'unknown command "sevre"'],
  ])('%j → exit code 2, a message that names the mistake', async (args, message) => {
    const { code, stderr } = await runProgram([CLI, ...args]);
    expect(stderr).toContain(message);
    expect(code).toBe(2);
  });

  test.each([
    [
      'it ends too early',
      { 'service.mjs': 'export const service = {\n  contract: 1,\n' },
      'service.mjs:3:1',
    ],
    [
      'a word too many',
      { 'service.mjs': 'export const a = 1;\nexport const service = a b;\n' },
      'service.mjs:2:26',
    ],
    [
      'what it imports has a word too many',
      {
        'service.mjs': "import { a } from './rows.mjs';\nexport const service = a;\n",
        'rows.mjs': '\nexport const a = b c;\n',
      },
      'rows.mjs:2:20',
    ],
    [
      'what it imports lacks a name',
      {
        'service.mjs': "import { a } from './rows.mjs';\nexport const service = a;\n",
        'rows.mjs': '\n',
      },
      'service.mjs:1:10',
    ],
    [
      'TypeScript',
      {
        'service.ts': "import { a } from './rows.ts';\nexport const service = a;\n",
        'rows.ts': 'export const a = 1 2;\n',
        'package.json': '{ "type": "module" }',
      },
      'rows.ts:1:20',
    ],
  ])(
    'a module that cannot be parsed: %s → exit code 2, its file, line and column',
    async (_what, files, place) => {
      await using folder = await temporaryFolder();
      for (const [name, text] of Object.entries(files))
        await writeFile(join(folder.path, name), text);
      const service = join(folder.path, Object.keys(files)[0] ?? '');
      const { code, stderr } = await runProgram([
        CLI,
        'serve',
        '--ephemeral',
        '--service',
        service,
      ]);
      expect(stderr).toContain(
        `--service names ${service}, which cannot be read: ${join(folder.path, place)}: `,
      );
      expect(code).toBe(2);
    },
  );

  test('a module that imports what is not there → the error of the system, which names both', async () => {
    await using folder = await temporaryFolder();
    const service = join(folder.path, 'service.mjs');
    await writeFile(service, "import './gone.mjs';\n");
    const { stderr } = await runProgram([CLI, 'serve', '--ephemeral', '--service', service]);
    expect(stderr).toMatch(/gone\.mjs.* imported from .*service\.mjs/);
  });

  test.each([[['--version']], [['-v']], [['serve', '--version']]])(
    '%j → the version of the package',
    async (args) => {
      const { version } = JSON.parse(await readFile('package.json', 'utf8')) as {
        readonly version: string;
      };
      expect(await runProgram([CLI, ...args])).toMatchObject({
        code: 0,
        stdout: `${version}\n`,
        stderr: '',
      });
    },
  );

  test('--help → the flags, exit code 0', async () => {
    const { code, stdout } = await runProgram([CLI, 'serve', '--help']);
    expect(code).toBe(0);
    for (const flag of [
      '--service',
      '--sites',
      '--red-leader',
      '--latency',
      '--port',
      '--data',
      '--auth',
      '--auth-keys',
    ])
      expect(stdout).toContain(flag);
  });
});

async function temporaryFolder(): Promise<{ readonly path: string } & AsyncDisposable> {
  const path = await mkdtemp(join(tmpdir(), 'correctables-cli-'));
  return { path, [Symbol.asyncDispose]: () => rm(path, { recursive: true }) };
}
