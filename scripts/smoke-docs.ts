/**
 * `npm run smoke:docs [-- --nodes 20,22,24] [--node PATH] [--pages operate/tls]`: packs the
 * package, installs the archive into an empty project, with what the pages of the documentation
 * import beside it, and runs the code of each page there as pasted, under each Node version
 * (fetched as the npm package `node`), or under the one at PATH alone. It must print what the page
 * says, where it says it, and nothing on stderr. Where Node takes TypeScript it gets the page's own
 * text; an older one gets it with the types taken off. Says of every block that is not run why.
 */
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { transform } from 'esbuild';
import {
  pageNames,
  pagesWithCode,
  pagesWithEngines,
  readPage,
  type Page,
} from '../test/docs/guide.ts';
import { execute, installNode, installPacked, root } from './smoke-package/project.ts';

const TIMEOUT_MS = 60_000;

const HELP = `npm run smoke:docs [-- options]

  --nodes 20,22,24             run the code of the pages under these
  --node PATH                  under this one alone
  --pages operate/tls          that of this page alone; several are separated by commas
  --help                       print this`;

const { values } = parseArgs({
  options: {
    nodes: { type: 'string', default: '20,22,24' },
    node: { type: 'string' },
    pages: { type: 'string' },
    help: { type: 'boolean', default: false },
  },
});
if (values.help) {
  console.log(HELP);
  process.exit(0);
}
const README = '../README';
const requested = values.pages?.split(',') ?? [README, ...(await pageNames())];
const pages = new Map<string, Page>();
for (const name of requested) pages.set(name, await readPage(name));

const project = await mkdtemp(join(tmpdir(), 'correctables-docs-'));
let failed = 0;
try {
  await installPacked(project, await packagesBeside([...pages.values()]));
  for (const [name, page] of pages) await writeProgram(createFile(name), page);
  if (values.node !== undefined) await runAll(values.node);
  else
    for (const version of values.nodes.split(','))
      await runAll(await installNode(project, version));
} finally {
  await rm(project, { recursive: true, force: true });
}
if (values.pages === undefined) await tellLeftOut();
process.exitCode = failed === 0 ? 0 : 1;

/** What the programs import beside this package, in the versions that it is developed with. */
async function packagesBeside(read: readonly Page[]): Promise<string[]> {
  const known = JSON.parse(await readFile(join(root, 'package.json'), 'utf8')) as Record<
    string,
    object
  >;
  const versions = { ...known['dependencies'], ...known['devDependencies'] } as Record<
    string,
    string
  >;
  const names = read.flatMap(({ program }) =>
    [...program.matchAll(/ from '((?:@[^/']+\/)?[^/']+)[^']*';$/gm)].map(([, name = '']) => name),
  );
  const others = new Set(
    names.filter((name) => name !== 'correctables' && !name.startsWith('node:')),
  );
  return [...others].map((name) => `${name}@${versions[name]}`);
}

function createFile(page: string): string {
  return `page-${page.replaceAll(/\W+/g, '-')}`;
}

async function writeProgram(file: string, { program }: Page): Promise<void> {
  await writeFile(join(project, `${file}.mts`), program);
  const { code } = await transform(program, { loader: 'ts', format: 'esm', target: 'node20' });
  await writeFile(join(project, `${file}.mjs`), code);
}

async function runAll(node: string): Promise<void> {
  const query = '[process.version, process.features.typescript ?? false].join()';
  const { stdout } = await execute(node, ['--print', query]);
  const [version = '', typescript] = stdout.trim().split(',');
  const extension = typescript === 'false' ? 'mjs' : 'mts';
  for (const [name, { printed }] of pages) {
    const problem = await problemOf(node, `${createFile(name)}.${extension}`, printed);
    if (problem !== undefined) failed += 1;
    console.log(`${problem === undefined ? 'ok ' : 'FAILED'} ${version} ${name}${problem ?? ''}`);
  }
}

/** What is wrong with a run of a page's program, if anything is. */
async function problemOf(node: string, file: string, printed: string): Promise<string | undefined> {
  const options = {
    cwd: project,
    timeout: TIMEOUT_MS,
    env: { ...process.env, NODE_OPTIONS: '', NODE_PATH: '' },
  };
  try {
    const { stdout, stderr } = await execute(node, [file], options);
    if (stderr !== '') return `: wrote to stderr\n${stderr}`;
    return printed === '' || stdout === printed ? undefined : `: printed\n${stdout}not\n${printed}`;
  } catch (error) {
    const { killed, stdout, stderr } = error as {
      killed?: boolean;
      stdout?: string;
      stderr?: string;
    };
    return `: ${killed === true ? `did not end within ${TIMEOUT_MS} ms` : 'failed'}\n${stdout}${stderr}`;
  }
}

async function tellLeftOut(): Promise<void> {
  for (const name of [README, ...(await pagesWithCode())]) {
    const { leftOut } = await readPage(name);
    for (const { line, reason } of leftOut)
      console.log(`--  ${name}.md:${line} is not run: ${reason}`);
    if (pagesWithEngines.includes(name))
      console.log(`--  ${name}.md is not run here: it needs a cluster`);
  }
}
