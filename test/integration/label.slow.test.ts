/** `correctables label`, from the built package. */
// @rule RB-K10
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { built } from '../support/programs.ts';
import { Program, root, runProgram } from '../support/run-program.ts';

const BANK = 'demo/bank/service.ts';
/**
 * What modules here import, which are JavaScript where nothing is about TypeScript: that takes
 * longer to load.
 */
const BUILT = JSON.stringify(await built(BANK));
/** As a loop without an end, but that others may have the processor. */
const NEVER_RETURNS =
  'const deposit = () => { for (;;) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0); };';

const label = (...args: string[]): ReturnType<typeof runProgram> =>
  runProgram(['dist/cli/main.js', 'label', ...args]);

/** A module with this text, in a folder that goes with it. */
async function moduleOf(text: string): Promise<AsyncDisposable & { readonly path: string }> {
  const folder = await mkdtemp(join(tmpdir(), 'correctables-label-'));
  const path = join(folder, 'service.mjs');
  await writeFile(path, text);
  return { path, [Symbol.asyncDispose]: () => rm(folder, { recursive: true }) };
}

/** The same, of what it makes of the bank's service, `bank`. */
function moduleOfBank(text: string): ReturnType<typeof moduleOf> {
  return moduleOf(`import { service as bank } from ${BUILT};\n${text}`);
}

test('a service that is declared right → verdicts, the story, exit 0', async () => {
  const { code, stdout } = await label(BANK, '--runs', '500');
  expect(stdout).toMatch(
    /^bank: 500 runs, seeds 1 to 500, in [\d.]+ s\n\nshadow operation +operation +declared +verdict/,
  );
  expect(stdout).toMatch(
    /^withdrawAck +withdraw +red +red +breaks an invariant beside what another site does$/m,
  );
  expect(stdout).toContain(
    "\n  Virginia, which has not seen it: withdraw { account: 'a', cents: 1 }.\n",
  );
  expect(stdout).toMatch(/\n {2}Again: --seed \d+ --runs 1\n/);
  expect(code).toBe(0);
});

test('a declaration that is unsafe → exit 1; as JSON, all of it in one line', async () => {
  const text = `import { bankService } from ${BUILT};\nexport const service = bankService('blue');\nexport const requests = 4;\n`;
  await using module = await moduleOf(text);
  const { code, stdout } = await label(module.path, '--runs', '500', '--seed', '3', '--json');
  const report = JSON.parse(stdout) as { readonly shadows: readonly object[] };
  expect(stdout.trim()).not.toContain('\n');
  expect(report).toMatchObject({
    service: 'bank',
    runs: 500,
    seed: 3,
    seconds: expect.any(Number) as number,
  });
  expect(report).toMatchObject({
    table: { requests: 4, transactions: 4, readOnly: 1, writes: 3, shadowBlueNoop: 1 },
  });
  expect(report.shadows).toContainEqual(
    expect.objectContaining({
      name: 'withdrawAck',
      operation: 'withdraw',
      declaredColor: 'blue',
      verdict: 'unsafe',
    }),
  );
  expect(code).toBe(1);
});

test('a module that prints as it is loaded and as it runs → with --json stdout has the one line; without, the requests too', async () => {
  await using module = await moduleOfBank(
    `console.log('loaded');
const deposit = (args, world) => { console.log('runs'); return bank.generators.deposit(args, world); };
export const service = { ...bank, generators: { ...bank.generators, deposit } };
export const requests = ['pay', 'look'];
`,
  );
  const { stdout, stderr } = await label(module.path, '--runs', '5', '--json');
  expect(JSON.parse(stdout)).toMatchObject({ runs: 5, table: { requests: 2 } });
  expect(stderr).toContain('loaded\n');
  expect(stderr).toContain('runs\n');
  const { stdout: lines } = await label(module.path, '--runs', '5');
  expect(lines).toMatch(/^loaded\n/);
  expect(lines).toContain('\n2 requests of users, 4 operations: 1 read, 3 write.');
});

test('a module that has its own way of writing → keeps it, before the report and after', async () => {
  await using module = await moduleOfBank(`const write = process.stdout.write.bind(process.stdout);
process.stdout.write = (text) => write('> ' + text);
console.log('before');
process.on('exit', () => console.log('after'));
export const service = bank;
`);
  const { stdout, code } = await label(module.path, '--runs', '5');
  expect(stdout).toMatch(/^> before\nbank: 5 runs.*\n> after\n$/s);
  const { stderr, stdout: line } = await label(module.path, '--runs', '5', '--json');
  expect(JSON.parse(line)).toMatchObject({ runs: 5 });
  expect(stderr).toBe('> before\n> after\n');
  expect(code).toBe(0);
});

test.each([
  ['as it is loaded', 'process.stdout.end();\nexport const service = bank;\n'],
  [
    'as it runs',
    `const deposit = (args, world) => {
  process.stdout.end();
  return bank.generators.deposit(args, world);
};
export const service = { ...bank, generators: { ...bank.generators, deposit } };
`,
  ],
])('a module that ends stdout %s → exit code 1, with the cause', async (_when, text) => {
  await using module = await moduleOfBank(text);
  for (const flags of [[], ['--json']]) {
    const { code, stdout, stderr } = await label(module.path, '--runs', '5', ...flags);
    expect(stderr).toContain(
      'error: what was found cannot be printed: a module has ended stdout\n',
    );
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
  }
});

test.runIf(existsSync('/dev/full'))(
  'the report cannot be printed → exit code 1, with the cause',
  async () => {
    const command = `"${process.execPath}" dist/cli/main.js label ${BUILT} --runs 5 > /dev/full`;
    const { code, stderr } = await new Promise<{ code: number | null; stderr: string }>(
      (resolve) => {
        const shell = spawn('sh', ['-c', command], {
          cwd: root,
          stdio: ['ignore', 'ignore', 'pipe'],
        });
        let reported = '';
        shell.stderr.setEncoding('utf8').on('data', (text: string) => (reported += text));
        shell.once('close', (ended) => resolve({ code: ended, stderr: reported }));
      },
    );
    expect(stderr).toContain('error: what was found cannot be printed: ENOSPC');
    expect(code).toBe(1);
  },
);

test.each([
  [['label'], '<service> is required'],
  [['label', '/nowhere.js'], '<service> names /nowhere.js, and there is no such file'],
  [
    ['label', 'demo/bank/contract.ts'],
    '<service> names demo/bank/contract.ts, which exports no service',
  ],
  [['label', BANK, 'more'], 'label takes one module'],
  [['label', BANK, '--runs', '0'], '--runs must be an integer from 1'],
  [['label', BANK, '--runs', '-5'], '--runs takes no number below 0, not "-5"'],
  [['label', BANK, '--port', '1'], '--port is an unknown flag'],
])('%j → exit 2, and what is wrong', async (args, message) => {
  const { code, stderr, stdout } = await runProgram(['dist/cli/main.js', ...args]);
  expect(stderr).toContain(message);
  expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
});

test('arbitraries that throw → exit 2, with what they threw and where', async () => {
  await using module = await moduleOf(`export { service } from ${BUILT};
const boom = () => {
  throw new Error('boom');
};
export const arbitraries = { deposit: boom };
`);
  const { code, stderr } = await label(module.path);
  expect(stderr).toContain(`error: arbitraries.deposit threw: Error: boom (${module.path}:3:9)\n`);
  expect(code).toBe(2);
});

const SERVE = [
  'dist/cli/main.js',
  'serve',
  '--sites',
  'ireland',
  '--port',
  '0',
  '--log-level',
  'warn',
];
const unsafeBank = `import { bankService } from ${BUILT};\nexport const service = bankService('blue');\n`;

test('serve, of a service that is unsafe → refused with the story; with --skip-color-check, or in production, served', async () => {
  await using module = await moduleOf(unsafeBank);
  const serve = [...SERVE, '--ephemeral', '--service', module.path];
  const { code, stdout, stderr } = await runProgram(serve, { NODE_ENV: 'test' });
  expect(stderr).toContain(
    "--service: the shadow operation 'withdrawAck' is declared blue, and breaks an invariant",
  );
  expect(stderr).toContain(
    "\n  Virginia, which has not seen it: withdraw { account: 'a', cents: 1 }.\n",
  );
  expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
  for (const [flags, env] of [
    [['--skip-color-check'], { NODE_ENV: 'test' }],
    [[], { NODE_ENV: 'production' }],
  ] as const) {
    using server = new Program([...serve, ...flags], env);
    expect(await server.line()).not.toBe('');
    server.signal('SIGTERM');
    expect((await server.ended()).code).toBe(0);
  }
});

test.concurrent('serve, of a service whose generator never returns → reports it, and serves', async () => {
  await using module = await moduleOfBank(
    `${NEVER_RETURNS}
export const service = { ...bank, generators: { ...bank.generators, deposit } };
`,
  );
  using server = new Program([...SERVE, '--ephemeral', '--service', module.path], {
    NODE_ENV: 'test',
  });
  await server.line();
  server.signal('SIGTERM');
  const { code, stderr } = await server.ended();
  expect(stderr).toContain('The labels of the service were not looked at');
  expect(code).toBe(0);
});

/**
 * A service whose deposits do not return once something unsafe was seen: so none does while that is
 * made simpler.
 */
const UNSAFE_AND_STUCK = `import { bankService } from ${BUILT};
${NEVER_RETURNS}
const bank = bankService('blue');
let isStuck = false;
const holds = ({ balance }) => {
  isStuck ||= balance < 0;
  return balance >= 0;
};
const some = (args, context) => (isStuck ? deposit() : bank.generators.deposit(args, context));
export const service = {
  ...bank,
  invariants: { accounts: { holds } },
  generators: { ...bank.generators, deposit: some },
};
`;

test.concurrent('findings before code of the service hangs are printed; open handles of the service do not delay the end', async () => {
  await using module = await moduleOf(`setInterval(() => {}, 1000);\n${UNSAFE_AND_STUCK}`);
  const { code, stdout, stderr } = await label(module.path, '--json');
  const { shadows, runs } = JSON.parse(stdout) as {
    readonly shadows: readonly object[];
    readonly runs: number;
  };
  expect(shadows).toContainEqual(
    expect.objectContaining({ name: 'withdrawAck', verdict: 'unsafe' }),
  );
  expect(stderr).toContain('for 10 s code of the service has not returned');
  expect(stderr).toContain(`Again: --seed ${runs + 1} --runs 1`);
  expect(code).toBe(1);
}, 30_000);
