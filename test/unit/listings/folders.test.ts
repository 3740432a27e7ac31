import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { cruise } from 'dependency-cruiser';
import type { IConfiguration, ICruiseResult, IForbiddenRuleType } from 'dependency-cruiser';
import { afterEach, expect, it } from 'vitest';

interface Row {
  readonly folder: string;
  /** It takes no package and no part of Node. */
  readonly pure?: boolean;
}

/** Of scripts/folder-rules.cjs. */
interface FolderRules {
  readonly FOLDERS: readonly Row[];
  reachedBy(row: Row): string[];
  rulesOf(): IForbiddenRuleType[];
  tableOf(): string;
}

const require = createRequire(import.meta.url);
const rules = require('../../../scripts/folder-rules.cjs') as FolderRules;
const cruiser = require('../../../.dependency-cruiser.cjs') as IConfiguration;
const root = fileURLToPath(new URL('../../..', import.meta.url));
const { FOLDERS } = rules;
const FILES_MAX = 24;
const names = FOLDERS.map(({ folder }) => folder);
let planted: string | undefined;

afterEach(() => {
  if (planted !== undefined) rmSync(planted, { recursive: true });
  planted = undefined;
});

function foldersWithFiles(): string[] {
  const listed = execFileSync('git', ['ls-files', '-co', '--exclude-standard', 'src'], { cwd: root, encoding: 'utf8' });
  const files = listed.split('\n').filter((file) => file.endsWith('.ts') && existsSync(join(root, file)));
  return [...new Set(files.map((file) => dirname(file)))];
}

it('every folder of src → a row says what it may import', () => {
  // Folders of bindings, of testing and of the command are covered by the row above them.
  const own = /^src(\/(correctable|protocol|transport|server)(\/.*)?|\/[^/]+)?$/;
  const rowless = foldersWithFiles().filter((folder) =>
    own.test(folder)
      ? !names.includes(folder)
      : !names.some((name) => name !== 'src' && `${folder}/`.startsWith(`${name}/`)),
  );
  expect(rowless).toEqual([]);
  expect(names.filter((name) => !existsSync(join(root, name)))).toEqual([]);
});

it(`every folder of src → at most ${FILES_MAX} files`, () => {
  const large = foldersWithFiles().filter((folder) => {
    const files = readdirSync(join(root, folder)).filter((name) => name.endsWith('.ts'));
    return files.length > FILES_MAX;
  });
  expect(large).toEqual([]);
});

it('what folders may import → no circle', () => {
  const reaches = new Map(FOLDERS.map((row) => [row.folder, rules.reachedBy(row)]));
  const ends = new Set<string>();
  const circles: string[] = [];
  const visit = (name: string, path: readonly string[]): void => {
    if (ends.has(name)) return;
    if (path.includes(name)) return void circles.push([...path, name].join(' → '));
    for (const next of reaches.get(name) ?? []) visit(next, [...path, name]);
    ends.add(name);
  };
  for (const name of names) visit(name, []);
  expect(circles).toEqual([]);
});

/** The row of a file: that of its folder, or of the nearest one above it. */
function rowOf(file: string): string | undefined {
  return names.filter((name) => file.startsWith(`${name}/`)).toSorted((a, b) => b.length - a.length)[0];
}

it('what folders may import → each is imported', () => {
  const listed = execFileSync('git', ['ls-files', '-co', '--exclude-standard', ...new Set(names)], { cwd: root });
  const files = listed.toString().split('\n');
  const used = new Set<string>();
  for (const file of files.filter((name) => /\.tsx?$/.test(name) && existsSync(join(root, name)))) {
    const text = readFileSync(join(root, file), 'utf8');
    for (const [, imported = ''] of text.matchAll(/(?:from|import) ?\(?'(\.[^']+)'/g))
      used.add(`${rowOf(file)} → ${rowOf(join(dirname(file), imported))}`);
  }
  const allowed = FOLDERS.flatMap((row) => rules.reachedBy(row).map((name) => `${row.folder} → ${name}`));
  expect(allowed.filter((arrow) => !used.has(arrow))).toEqual([]);
});

it('all that a row may not import, planted in each row → all of it is found', async () => {
  mkdirSync(join(root, 'build'), { recursive: true });
  planted = mkdtempSync(join(root, 'build/folders-'));
  const wanted: string[] = [];
  for (const row of FOLDERS) {
    const folder = join(planted, row.folder);
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, 'target.mjs'), 'export const target = 1;\n');
    const reached = [row.folder, ...rules.reachedBy(row)];
    const imports = names
      .filter((name) => !reached.includes(name))
      .map((name) => {
        wanted.push(`folders: ${row.folder} → ${name}`);
        const path = relative(folder, join(planted as string, name, 'target.mjs'));
        return path.startsWith('.') ? path : `./${path}`;
      });
    if (row.pure === true) {
      wanted.push(`folders: ${row.folder} is pure → node`);
      imports.push('node:fs');
    }
    writeFileSync(join(folder, 'planted.mjs'), imports.map((path) => `import '${path}';\n`).join(''));
  }
  const { output } = await cruise(['.'], {
    baseDir: planted,
    validate: true,
    ruleSet: { forbidden: rules.rulesOf() },
  });
  const found = (output as ICruiseResult).summary.violations.map(({ to, rule }) => {
    return `${rule.name} → ${to.includes('/target.') ? dirname(to) : 'node'}`;
  });
  expect(wanted.length).toBeGreaterThan(FOLDERS.length);
  expect(wanted.filter((each) => !found.includes(each))).toEqual([]);
});

/** The rules that planted sources break, each with the file that breaks it. */
async function brokenBy(files: Readonly<Record<string, string>>): Promise<[file: string, rule: string][]> {
  mkdirSync(join(root, 'build'), { recursive: true });
  planted = mkdtempSync(join(root, 'build/folders-'));
  for (const [file, text] of Object.entries(files)) {
    mkdirSync(dirname(join(planted, file)), { recursive: true });
    writeFileSync(join(planted, file), text);
  }
  const { enhancedResolveOptions, exclude, doNotFollow } = cruiser.options ?? {};
  const { output } = await cruise(
    ['src'],
    {
      baseDir: planted,
      validate: true,
      ruleSet: { forbidden: cruiser.forbidden ?? [] },
      ...(exclude !== undefined && { exclude }),
      ...(doNotFollow !== undefined && { doNotFollow }),
    },
    enhancedResolveOptions,
  );
  return (output as ICruiseResult).summary.violations.map(({ from, rule }) => [from, rule.name]);
}

it.each(['built', 'not built'])(
  'an import of the package by its own name, planted while it is %s → found',
  async (state) => {
    const exports = { './server': { default: './dist/server/index.js' } };
    const found = await brokenBy({
      'package.json': JSON.stringify({ name: 'correctables', type: 'module', exports }),
      'src/correctable/planted.mjs': `import 'correctables/server';\n`,
      ...(state === 'built' && { 'dist/server/index.js': 'export const server = 1;\n' }),
    });
    expect(found).toContainEqual(['src/correctable/planted.mjs', 'sources-by-their-paths']);
  },
);

it.each([
  ['a part of Node', 'node:fs'],
  ['the disk', '../storage/disk/planted.mjs'],
])('%s, planted in the machine of a site → found', async (_, imported) => {
  const machine = 'src/server/site/site-machine.mjs';
  const found = await brokenBy({
    [machine]: `import '${imported}';\n`,
    'src/server/storage/disk/planted.mjs': 'export const planted = 1;\n',
  });
  expect(found).toContainEqual([machine, 'site-machine-purity']);
});

it('the table of docs/ARCHITECTURE.md → says the same', () => {
  expect(readFileSync(join(root, 'docs/ARCHITECTURE.md'), 'utf8')).toContain(rules.tableOf());
});
