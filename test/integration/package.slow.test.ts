/** The published package: its pages point only to files that it has. */
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join, posix } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { root } from '../support/run-program.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

interface Packed {
  readonly files: readonly { readonly path: string }[];
}

async function filesPacked(): Promise<string[]> {
  const { stdout } = await promisify(execFile)(
    'npm',
    ['pack', '--dry-run', '--json', '--ignore-scripts'],
    {
      cwd: root,
    },
  );
  const [archive] = JSON.parse(stdout) as [Packed];
  return archive.files.map(({ path }) => path);
}

/** Of the archive's files: asked for once, for it takes npm seconds. */
const files = await filesPacked();

/** The names under which the headings of a page can be pointed to. */
function anchorsOf(page: string): string[] {
  return [...page.matchAll(/^#+ (.*)$/gm)].map(([, heading = '']) =>
    heading
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
      .replaceAll(' ', '-'),
  );
}

test('package: every page → what it points to is in the package, and has the heading', async () => {
  const pages = files.filter((path) => path.endsWith('.md'));
  expect(pages.length).toBeGreaterThan(10);
  const texts = new Map<string, string>();
  for (const path of pages) texts.set(path, await readFile(join(root, path), 'utf8'));
  const dead = [...texts].flatMap(([page, text]) =>
    [...text.replaceAll(/^```[\s\S]*?^```$/gm, '').matchAll(/\]\(([^)\s]+)\)/g)]
      .map(([, target = '']) => target)
      .filter((target) => !URL.canParse(target))
      .filter((target) => {
        const [path = '', anchor] = target.split('#', 2);
        const file = path === '' ? page : posix.join(posix.dirname(page), path);
        const isThere = files.includes(file);
        return (
          !isThere || (anchor !== undefined && !anchorsOf(texts.get(file) ?? '').includes(anchor))
        );
      })
      .map((target) => `${page}: ${target}`),
  );
  expect(dead).toEqual([]);
});

test('package: every page of the documentation → is packed', async () => {
  const docs = await readdir(join(root, 'docs'), { recursive: true });
  const pages = docs
    .filter((path) => /\.(md|ts|tla|cfg)$/.test(path))
    .map((path) => posix.join('docs', path));
  expect(files).toEqual(expect.arrayContaining(pages));
});

test('package: one built file for each source, for pages in production another one, and no source map', () => {
  const built = files.filter((path) => /^dist\/.*\.js$/.test(path) && !path.includes('/_virtual/'));
  const sources = built.map((path) => path.replace(/^dist\/(?:production\/)?(.*)\.js$/, 'src/$1'));
  const lost = sources.filter(
    (path) => !existsSync(join(root, `${path}.ts`)) && !existsSync(join(root, `${path}.tsx`)),
  );
  expect(lost).toEqual([]);
  expect(files.filter((path) => path.endsWith('.map'))).toEqual([]);
});

test('package: no built file names a source map', async () => {
  const built = files.filter((path) => /^dist\/.*\.(js|ts)$/.test(path));
  expect(built.some((path) => path.endsWith('.d.ts'))).toBe(true);
  const dead: string[] = [];
  for (const path of built)
    if (/^\/\/# sourceMappingURL=/m.test(await readFile(join(root, path), 'utf8'))) dead.push(path);
  expect(dead).toEqual([]);
});

test('package: an error of the package → its stack names the file that the source has', async () => {
  const script = `
    import { createClient } from './dist/index.js';
    try { createClient(); } catch (error) { console.log(error.stack); }
  `;
  const { stdout } = await promisify(execFile)(
    process.execPath,
    ['--input-type=module', '--eval', script],
    {
      cwd: root,
    },
  );
  const [, line] = /dist\/correctable\/client\/client\.js:(\d+):\d+/.exec(stdout) ?? [];
  const built = await readFile(join(root, 'dist/correctable/client/client.js'), 'utf8');
  expect(built.split('\n')[Number(line) - 1]).toContain('check(value?.submitOperation, "binding"');
});

/** Bundles a program that imports the built package. */
async function bundle(contents: string, options: object): Promise<string> {
  const { build } = await import('esbuild');
  const { outputFiles } = await build({
    stdin: { contents, resolveDir: root },
    bundle: true,
    write: false,
    logLevel: 'error',
    external: ['bufferutil', 'utf-8-validate'],
    ...options,
  });
  return outputFiles?.[0]?.text ?? '';
}

test('package: a CommonJS bundle for Node has the WebSocket of ws', async () => {
  const program = `import { remote } from './dist/bindings/remote/index.js';
    delete globalThis.WebSocket;
    const binding = remote({ url: 'ws://127.0.0.1:1/', levels: ['weak'] });
    console.log(binding.consistencyLevels().join());
    void binding.close();`;
  const text = await bundle(program, { platform: 'node', format: 'cjs', target: 'node20' });
  const folder = temporaryFolder();
  await writeFile(join(folder, 'bundle.cjs'), text);
  const { stdout } = await promisify(execFile)(process.execPath, ['bundle.cjs'], { cwd: folder });
  expect(stdout.trim()).toBe('weak');
});

test('package: what pages load has no import.meta.url', async () => {
  const program =
    "export * from './dist/bindings/redblue/index.js'; export * from './dist/bindings/cache/index.js';";
  const text = await bundle(program, { platform: 'browser', format: 'esm', external: ['idb'] });
  expect(text).not.toContain('import.meta');
});
