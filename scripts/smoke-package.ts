/**
 * `npm run smoke:package [-- --nodes 20,22,24]`: packs the package, installs the archive into an
 * empty project, and there runs the README's example as pasted: under each Node version (fetched as
 * the npm package `node`), and bundled in a headless browser. Also type-checks it strictly against
 * the packed declarations, and emits declarations of what an application may export, libraries
 * checked too, with several versions of TypeScript (`--typescripts 5.7,5.9,latest`), and runs a
 * contract with the oldest and the newest zod that the package says it takes (`--zods
 * 4.0.0,latest`).
 */
import { copyFile, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { build } from 'esbuild';
import { launchChromium } from '../bench/harness/chromium.ts';
import { execute, install, installNode, installPacked, root } from './smoke-package/project.ts';

const HELP = `npm run smoke:package [-- options]

  --nodes 20,22,24              run the README's example under these
  --typescripts 5.7,5.9,latest  emit declarations with these
  --zods 4.0.0,latest           run a contract with these
  --help                        print this`;

const { values } = parseArgs({
  options: {
    nodes: { type: 'string', default: '20,22,24' },
    typescripts: { type: 'string', default: '5.7,5.9,latest' },
    zods: { type: 'string', default: '4.0.0,latest' },
    help: { type: 'boolean', default: false },
  },
});
if (values.help) {
  console.log(HELP);
  process.exit(0);
}
const project = await mkdtemp(join(tmpdir(), 'correctables-try-'));

try {
  const example = await readme();
  await writeExample(example);
  const expected = await runIn(process.execPath, 'example.mjs');
  report(`node ${process.version} (this one)`, expected);
  for (const version of values.nodes.split(',')) {
    const node = await installNode(project, version);
    compare(`node ${version}`, await runIn(node, 'example.mjs'), expected);
  }
  await execute(join(root, 'node_modules/.bin/tsc'), ['-p', project], { cwd: project }).catch(
    printed,
  );
  console.log('ok  types: the example compiles strictly against the packed declarations');
  for (const version of values.typescripts.split(',')) await emitDeclarations(version);
  let reported: readonly string[] | undefined;
  for (const version of values.zods.split(',')) reported = await runContract(version, reported);
  compare('browser bundle', await runInBrowser(), expected);
} finally {
  await rm(project, { recursive: true, force: true });
}

async function readme(): Promise<string> {
  const [, example] =
    /```ts\n([\s\S]*?)```/.exec(await readFile(join(root, 'README.md'), 'utf8')) ?? [];
  if (example === undefined) throw new Error('the README has no example');
  return example;
}

async function writeExample(example: string): Promise<void> {
  await installPacked(project);
  await writeFile(join(project, 'example.mts'), example);
  const compilerOptions = {
    target: 'ES2022',
    module: 'NodeNext',
    strict: true,
    noEmit: true,
    exactOptionalPropertyTypes: true,
    lib: ['ES2022', 'ESNext.Disposable', 'DOM'],
    types: [],
  };
  await writeFile(
    join(project, 'tsconfig.json'),
    JSON.stringify({ compilerOptions, files: ['example.mts'] }),
  );
  await bundle({ entry: 'example.mts', outfile: 'example.mjs', packages: 'external' });
}

/**
 * As an application does that publishes what it makes of this package; what has a contract compiles
 * too.
 */
async function emitDeclarations(version: string): Promise<void> {
  const name = `typescript-${version}`;
  const packages = [`${name}@npm:typescript@${version}`, '@types/node@20', 'rxjs'];
  await install(project, packages);
  const sources = { exported: 'inferred-exports', contract: 'contract' };
  for (const [name, source] of Object.entries(sources)) {
    await copyFile(join(root, `scripts/smoke-package/${source}.ts`), join(project, `${name}.mts`));
  }
  const compilerOptions = {
    target: 'ES2022',
    module: 'NodeNext',
    strict: true,
    declaration: true,
    emitDeclarationOnly: true,
    outDir: 'declarations',
    skipLibCheck: false,
    lib: ['ES2022', 'ESNext.Disposable', 'DOM', 'DOM.Iterable', 'DOM.AsyncIterable'],
    types: ['node'],
  };
  const files = ['exported.mts', 'contract.mts'];
  await writeFile(join(project, 'tsconfig.emit.json'), JSON.stringify({ compilerOptions, files }));
  const compiler = join(project, 'node_modules', name, 'bin', 'tsc');
  const { stdout } = await execute(process.execPath, [compiler, '--version'], { cwd: project });
  await execute(process.execPath, [compiler, '-p', 'tsconfig.emit.json'], { cwd: project }).catch(
    printed,
  );
  console.log(
    `ok  TypeScript ${stdout.trim().replace('Version ', '')}: emits declarations, libraries checked`,
  );
}

/**
 * As an application does that has its own zod: what it exports compiles, and its contract does what
 * it did with others.
 */
async function runContract(
  version: string,
  expected?: readonly string[],
): Promise<readonly string[]> {
  await execute('npm', ['install', '--no-audit', '--no-fund', `zod@${version}`], { cwd: project });
  await emitDeclarations('5.9');
  await bundle({ entry: 'contract.mts', outfile: 'contract.mjs', packages: 'external' });
  const lines = await runIn(process.execPath, 'contract.mjs');
  compare(`zod ${version}: ${lines.at(-1)}`, lines, expected ?? lines);
  return lines;
}

async function bundle(options: {
  entry: string;
  outfile: string;
  packages: 'external' | 'bundle';
}): Promise<void> {
  await build({
    absWorkingDir: project,
    entryPoints: [options.entry],
    outfile: join(project, options.outfile),
    packages: options.packages,
    bundle: true,
    format: 'esm',
    platform: options.packages === 'bundle' ? 'browser' : 'node',
    logLevel: 'error',
  });
}

async function runIn(node: string, file: string): Promise<readonly string[]> {
  const { stdout } = await execute(node, [file], { cwd: project });
  return stdout.trimEnd().split('\n');
}

async function runInBrowser(): Promise<readonly string[]> {
  await bundle({ entry: 'example.mts', outfile: 'bundle.js', packages: 'bundle' });
  const script = await readFile(join(project, 'bundle.js'), 'utf8');
  const server = createServer((request, response) => {
    const isScript = request.url === '/bundle.js';
    response.setHeader('content-type', isScript ? 'text/javascript' : 'text/html');
    response.end(
      isScript ? script : '<!doctype html><script type="module" src="bundle.js"></script>',
    );
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const launched = await launchChromium();
  if (launched.browser === undefined) throw new Error(`no browser: ${launched.reason}`);
  const lines: string[] = [];
  const page = await launched.browser.newPage();
  const ended = new Promise<void>((resolve, reject) => {
    page.on('pageerror', reject);
    page.on('console', (message) => {
      lines.push(message.text());
      if (message.text().includes('(corrected)')) resolve();
    });
  });
  await page.goto(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`);
  await ended;
  await launched.browser.close();
  server.close();
  return lines;
}

/** Consoles differ in how they print a value; the words must be the same. */
function words(lines: readonly string[]): string {
  return lines.join(' ').replaceAll(/[^a-z0-9]+/gi, ' ');
}

function compare(name: string, lines: readonly string[], expected: readonly string[]): void {
  if (words(lines) !== words(expected))
    throw new Error(`${name} printed\n${lines.join('\n')}\nnot\n${expected.join('\n')}`);
  report(name, lines);
}

function report(name: string, lines: readonly string[]): void {
  console.log(`ok  ${name}: ${lines.length} lines as expected`);
}

function printed(error: unknown): never {
  throw new Error(String((error as { stdout?: string }).stdout ?? error));
}
