/** The published package: its pages point only to files that it has. */
import { execFile } from 'node:child_process';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join, posix } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { root } from '../support/run-program.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

interface Packed {
  readonly files: readonly { readonly path: string }[];
}

interface SourceMap {
  readonly sources: readonly string[];
  readonly sourcesContent: readonly (string | null)[];
}

async function filesPacked(): Promise<string[]> {
  const { stdout } = await promisify(execFile)('npm', ['pack', '--dry-run', '--json', '--ignore-scripts'], {
    cwd: root,
  });
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
        return !isThere || (anchor !== undefined && !anchorsOf(texts.get(file) ?? '').includes(anchor));
      })
      .map((target) => `${page}: ${target}`),
  );
  expect(dead).toEqual([]);
});

test('package: every page of the documentation → is packed', async () => {
  const docs = await readdir(join(root, 'docs'), { recursive: true });
  const pages = docs.filter((path) => /\.(md|ts|tla|cfg)$/.test(path)).map((path) => posix.join('docs', path));
  expect(files).toEqual(expect.arrayContaining(pages));
});

test('package: every module with code of its own → has a source map that holds its sources', async () => {
  const modules = files.filter((path) => path.startsWith('dist/') && path.endsWith('.js'));
  expect(modules.length).toBeGreaterThan(10);
  for (const path of modules) {
    const code = (await readFile(join(root, path), 'utf8')).replaceAll(/^(import|export|\/\/) ?.*$/gm, '').trim();
    // One that hands on what others have needs none.
    if (code === '') continue;
    expect(files).toContain(`${path}.map`);
    const { sources, sourcesContent } = JSON.parse(await readFile(join(root, `${path}.map`), 'utf8')) as SourceMap;
    expect(sourcesContent.filter((text) => typeof text === 'string')).toHaveLength(sources.length);
  }
});

test('package: every file that names a source map → has it', async () => {
  const built = files.filter((path) => /^dist\/.*\.(js|ts)$/.test(path));
  expect(built.some((path) => path.endsWith('.d.ts'))).toBe(true);
  const dead: string[] = [];
  for (const path of built) {
    const [, map] = /^\/\/# sourceMappingURL=(.*)$/m.exec(await readFile(join(root, path), 'utf8')) ?? [];
    if (map !== undefined && !files.includes(posix.join(posix.dirname(path), map))) dead.push(`${path}: ${map}`);
  }
  expect(dead).toEqual([]);
});

test('package: an error of the package → its stack names file and line of the source', async () => {
  const script = `
    import { createClient } from './dist/index.js';
    try { createClient(); } catch (error) { console.log(error.stack); }
  `;
  const args = ['--enable-source-maps', '--input-type=module', '--eval', script];
  const { stdout } = await promisify(execFile)(process.execPath, args, { cwd: root });
  const [, line] = /src\/correctable\/client\/client\.ts:(\d+):\d+/.exec(stdout) ?? [];
  const source = await readFile(join(root, 'src/correctable/client/client.ts'), 'utf8');
  const from = source
    .split('\n')
    .slice(Number(line) - 1)
    .join(' ');
  expect(from.replaceAll(/\s+/g, ' ').trim()).toMatch(/^check\( ?value\?\.submitOperation, 'binding'/);
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
  const program = "export * from './dist/bindings/redblue/index.js'; export * from './dist/bindings/cache/index.js';";
  const text = await bundle(program, { platform: 'browser', format: 'esm', external: ['idb'] });
  expect(text).not.toContain('import.meta');
});
