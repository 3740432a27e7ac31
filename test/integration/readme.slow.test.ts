/**
 * README.md and the pages to start with: the example runs as pasted, commands and their flags
 * exist.
 */
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { parsePage } from '../docs/guide.ts';
import { built } from '../support/programs.ts';
import { root, runProgram, type Ended } from '../support/run-program.ts';

const read = (page: string): Promise<string> => readFile(join(root, page), 'utf8');
const readme = await read('README.md');
const { scripts } = JSON.parse(await read('package.json')) as {
  readonly scripts: Readonly<Record<string, string>>;
};

const START_PAGES = ['install', 'quick-start-redblue'].map((name) => `docs/start/${name}.md`);
const PAGES = [
  'README.md',
  'CONTRIBUTING.md',
  'SECURITY.md',
  'CHANGELOG.md',
  'docs/README.md',
  ...START_PAGES,
];

/** The commands of a page: lines of its `sh` blocks, and inline code. */
async function commandsOf(page: string): Promise<string[]> {
  const text = await read(page);
  const lines = [...text.matchAll(/^```sh\n([\s\S]*?)^```$/gm)].flatMap(([, body = '']) =>
    body.split('\n'),
  );
  const inline = [...text.replaceAll(/^```[\s\S]*?^```$/gm, '').matchAll(/`([^`]+)`/g)].map(
    ([, code = '']) => code,
  );
  return [...lines, ...inline]
    .flatMap((line) => line.replaceAll(/\s+/g, ' ').replace(/ #.*/, '').split(' && '))
    .filter((command) => /^(npm|npx) /.test(command))
    .map((command) => command.trim());
}

const commands = [...new Set((await Promise.all(PAGES.map(commandsOf))).flat())].toSorted();

test('README: its program, as pasted → prints what the page shows, and begins with a view that is corrected', async () => {
  const { program, printed } = parsePage('README', readme);
  // In a directory of the package its name resolves to the built package itself.
  const directory = join(root, 'build', `readme-${process.pid}`);
  await mkdir(directory, { recursive: true });
  await writeFile(join(directory, 'example.mts'), program);
  const { code, stdout, stderr } = await runProgram([
    '--import',
    'tsx',
    join(directory, 'example.mts'),
  ]);
  await rm(directory, { recursive: true });
  expect(stderr).toBe('');
  expect(code).toBe(0);
  expect(stdout).toBe(printed);
  expect(stdout).toMatch(/^.*\(preliminary\)\n.*\(corrected\)\n/);
});

test('README: has at most 150 lines, and the two commands to run the demo and the tests', () => {
  expect(readme.split('\n').length - 1).toBeLessThanOrEqual(150);
  expect(commands).toEqual(expect.arrayContaining(['npm ci', 'npm run demo', 'npm test']));
});

/** What follows `npm` and names no script. */
const NPM_COMMANDS: ReadonlySet<string> = new Set(['ci', 'install', 'pack', 'init', 'pkg']);

test('commands: every npm script that a page names → exists', () => {
  const names = commands.flatMap(
    (command) => /^npm (?:run )?([a-z][a-z:-]*)/.exec(command)?.[1] ?? [],
  );
  expect(names.length).toBeGreaterThan(10);
  for (const name of names.filter((item) => !NPM_COMMANDS.has(item))) {
    expect(Object.keys(scripts)).toContain(name);
  }
});

test('commands: npm scripts run programs in TypeScript by Node itself → none is killed before it has cleaned up', () => {
  // The command tsx kills what does not take a signal within a twentieth of a second, and what that
  // has started stays.
  const run = Object.values(scripts).filter(
    (script) => /\.ts\b/.test(script) && !script.startsWith('vitest'),
  );
  expect(run.length).toBeGreaterThan(5);
  for (const script of run) expect(script).toMatch(/(?:^|&& )node --import tsx [a-z]/);
});

/**
 * What is run here, in the place of `npm run NAME -- …`: the same program, without building the
 * package first.
 */
function programOf(command: string): string {
  const [, name = '', value] =
    /^npm run (?:--silent )?([a-z][a-z:-]*)(?: -- ([a-z]+))?/.exec(command) ?? [];
  const program = scripts[name]?.split(' && ').at(-1) ?? '';
  if (program.startsWith('npm run ')) return programOf(program);
  return value === undefined ? program : `${program} ${value}`;
}

/** Returns the help of a program, run once for all the commands that name it. */
async function helpOf(program: string): Promise<Ended> {
  const [, path = '', ...args] = program.replace('--import tsx ', '').split(' ');
  return runProgram([path.endsWith('.ts') ? await built(path) : path, ...args, '--help']);
}

const helps = new Map<string, Promise<Ended>>();

const flagged = commands.filter(
  (command) => command.startsWith('npm run ') && / --[a-z]/.test(command),
);

test.each(flagged)('%s → its program knows the flags', async (command) => {
  // Each world has options of its own.
  const [world = ''] = / --world [a-z]+/.exec(command) ?? [];
  const program = programOf(command) + world;
  const help = helps.get(program) ?? helpOf(program);
  helps.set(program, help);
  const { code, stdout } = await help;
  expect(code).toBe(0);
  for (const [flag] of command.matchAll(/--[a-z][a-z-]*/g)) expect(stdout).toContain(flag);
});

test('npx correctables serve, as the quick start has it → knows the flags', async () => {
  const serve = commands.filter((command) => command.startsWith('npx correctables serve'));
  expect(serve.length).toBeGreaterThan(0);
  const { code, stdout } = await runProgram(['dist/cli/main.js', 'serve', '--help']);
  expect(code).toBe(0);
  for (const [flag] of serve.join(' ').matchAll(/--[a-z][a-z-]*/g)) expect(stdout).toContain(flag);
});

test('npx vitest, as CONTRIBUTING has it → finds tests', async () => {
  const [command = '', ...others] = commands.filter((item) => item.startsWith('npx vitest '));
  expect(others).toEqual([]);
  const args = command.split(' ').slice(3);
  const { code, stdout } = await runProgram([
    'node_modules/vitest/vitest.mjs',
    'list',
    '--filesOnly',
    ...args,
  ]);
  expect(code).toBe(0);
  expect(stdout).toContain('.test.ts');
});

test.each(PAGES)('%s: every file that it links to exists', async (page) => {
  const targets = [...(await read(page)).matchAll(/\]\(([^)#:]+)[^):]*\)/g)].map(
    ([, path]) => path as string,
  );
  if (page !== 'CHANGELOG.md') expect(targets.length).toBeGreaterThan(2);
  for (const path of targets)
    expect(await readFile(join(root, dirname(page), path)), path).toBeDefined();
});
