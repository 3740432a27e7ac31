/**
 * Collects the source of the documentation site in one folder: the pages of `docs`, those of
 * `site/pages`, the reference that TypeDoc writes, and the configuration of VitePress.
 */
import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { Application, type TypeDocOptions } from 'typedoc';
import type { PluginOptions } from 'typedoc-plugin-markdown';
import entries from '../scripts/entries.json' with { type: 'json' };
import { readContents, type Section } from './contents.ts';
import { escapeTags } from './escape-tags.ts';
import { ROOT, SOURCE } from './folders.ts';

const API = join(SOURCE, 'reference/api');

/**
 * Folders and pages of `docs` whose readers know the package well. The search of the site leaves
 * them out.
 */
export const INTERNALS = [
  'spec/',
  'decisions/',
  'research/',
  'listings/',
  'ARCHITECTURE.md',
  'reading-the-code.md',
] as const;

/** Pages of the checkout that pages of `docs` link to. */
const CHECKOUT_PAGES = ['CHANGELOG.md', 'CONTRIBUTING.md', 'SECURITY.md'] as const;

/** Fills the folder `build/site/source`. Returns the sections of the table of contents. */
export async function prepareSource(progress: (text: string) => void): Promise<readonly Section[]> {
  rmSync(SOURCE, { recursive: true, force: true });
  mkdirSync(dirname(SOURCE), { recursive: true });
  cpSync(join(ROOT, 'docs'), SOURCE, { recursive: true });
  for (const page of CHECKOUT_PAGES) copyCheckoutPage(page);
  for (const path of readdirSync(SOURCE, { recursive: true, encoding: 'utf8' }))
    if (path.endsWith('.md')) rewrite(join(SOURCE, path), escapeTags);
  cpSync(join(ROOT, 'site/pages'), SOURCE, { recursive: true });
  cpSync(join(ROOT, 'site/vitepress'), join(SOURCE, '.vitepress'), { recursive: true });
  progress('writing the reference of all entries');
  await writeReference();
  const sections = readContents(readFileSync(join(ROOT, 'docs/README.md'), 'utf8'));
  const settings = { sections, internals: INTERNALS, entries: listEntries(), checkout: ROOT };
  writeFileSync(join(SOURCE, '.vitepress/settings.json'), JSON.stringify(settings));
  return sections;
}

/** TypeDoc has a folder for each entry, and none for `.`. */
function listEntries(): string[] {
  return readdirSync(API, { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('/index.md'))
    .map((path) => dirname(path))
    .toSorted();
}

function rewrite(path: string, change: (text: string) => string): void {
  writeFileSync(path, change(readFileSync(path, 'utf8')));
}

function copyCheckoutPage(name: string): void {
  const text = readFileSync(join(ROOT, name), 'utf8');
  writeFileSync(join(SOURCE, name), text.replaceAll('](docs/', ']('));
}

async function writeReference(): Promise<void> {
  const options: TypeDocOptions & Partial<PluginOptions> = {
    entryPoints: entries.map(({ source }) => join(ROOT, source)),
    tsconfig: join(ROOT, 'tsconfig.json'),
    plugin: ['typedoc-plugin-markdown'],
    out: API,
    readme: 'none',
    entryFileName: 'index',
    hidePageHeader: true,
    useCodeBlocks: true,
    disableSources: true,
    excludePrivate: true,
    excludeInternal: true,
    sanitizeComments: true,
    logLevel: 'Error',
    skipErrorChecking: true,
  };
  const application = await Application.bootstrapWithPlugins(options as TypeDocOptions);
  const project = await application.convert();
  if (project === undefined)
    throw new Error('TypeDoc found nothing to describe: see its messages above');
  await application.generateOutputs(project);
}
