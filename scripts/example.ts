/**
 * `npm run example -- NAME [options]`: copies an example into build/, installs the packed package
 * into it, builds it and runs it until interrupted. Options after the name are for the example.
 */
import { spawn, type ChildProcess } from 'node:child_process';
import { cp, mkdir, readdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { execute, install, pack, root } from './smoke-package/project.ts';

const examples = join(root, 'examples');
const names = await readdir(examples);
const HELP = `npm run example -- <name> [options]

Installs this package into an example, builds it, serves it and prints its address. Ctrl-C ends all of it.

Examples: ${names.join(', ')}

Options:
  --help    print this; after a name, the options of the example`;

const [name, ...options] = process.argv.slice(2);
if (name === undefined || name === '--help') console.log(HELP);
else if (names.includes(name)) await run(name, options);
else {
  console.error(`error: there is no example "${name}". Examples: ${names.join(', ')}`);
  process.exitCode = 2;
}

async function run(example: string, forwarded: readonly string[]): Promise<void> {
  const project = await prepare(example);
  console.log('Building the example …');
  await execute('npm', ['run', 'build'], { cwd: project });
  // Without npm between them, signals reach the server.
  const args = [...(await readStartArguments(project)), ...forwarded];
  const server = spawn(process.execPath, args, { cwd: project, stdio: 'inherit' });
  process.exitCode = await waitUntilClosed(server);
}

/**
 * Copies the example and installs the package. Deletes the files of an earlier run, but keeps
 * installed packages for npm.
 */
async function prepare(example: string): Promise<string> {
  const project = join(root, 'build/examples', example);
  await mkdir(project, { recursive: true });
  for (const file of await readdir(project))
    if (file !== 'node_modules') await rm(join(project, file), { recursive: true });
  const isSource = (path: string): boolean => !/\/(node_modules|dist)$/.test(path);
  await cp(join(examples, example), project, { recursive: true, filter: isSource });
  console.log('Installing the package into the example …');
  const { archive } = await pack(project);
  await install(project, ['--prefer-offline', archive]);
  return project;
}

/** Returns what the script `start` of the example passes to Node. */
async function readStartArguments(project: string): Promise<readonly string[]> {
  const { scripts } = JSON.parse(await readFile(join(project, 'package.json'), 'utf8')) as {
    readonly scripts: { readonly start: string };
  };
  return scripts.start.split(' ').slice(1);
}

/** Passes signals on, and waits until the server has closed. */
function waitUntilClosed(server: ChildProcess): Promise<number> {
  for (const signal of ['SIGINT', 'SIGTERM'] as const)
    process.on(signal, () => server.kill(signal));
  return new Promise((resolve) => server.once('exit', (code) => resolve(code ?? 0)));
}
