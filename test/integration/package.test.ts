/** What is published: whoever has the package alone finds what its pages point to. */
import { execFile } from 'node:child_process';
import { readdir, readFile } from 'node:fs/promises';
import { join, posix } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { root } from '../support/run-program.ts';

interface Packed {
  readonly files: readonly { readonly path: string }[];
}

async function packed(): Promise<string[]> {
  const { stdout } = await promisify(execFile)('npm', ['pack', '--dry-run', '--json', '--ignore-scripts'], {
    cwd: root,
  });
  const [archive] = JSON.parse(stdout) as [Packed];
  return archive.files.map(({ path }) => path);
}

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
  const files = await packed();
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
  expect(await packed()).toEqual(expect.arrayContaining(pages));
});
