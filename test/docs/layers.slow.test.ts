import { execFileSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { cruise } from 'dependency-cruiser';
import type { IConfiguration, ICruiseResult, IForbiddenRuleType } from 'dependency-cruiser';
import { afterEach, expect, it } from 'vitest';

/** Of scripts/layers.cjs. */
interface Layers {
  readonly folders: readonly string[];
  /** Folders that import no package and no part of Node. */
  readonly pure: readonly string[];
  importsOf(folder: string): string[];
  rulesOf(): IForbiddenRuleType[];
  withTable(page: string): string;
}

const require = createRequire(import.meta.url);
const layers = require('../../scripts/layers.cjs') as Layers;
const cruiser = require('../../.dependency-cruiser.cjs') as IConfiguration;
const root = fileURLToPath(new URL('../..', import.meta.url));
const FILES_MAX = 26;
const { folders } = layers;
let planted: string | undefined;

afterEach(() => {
  if (planted !== undefined) rmSync(planted, { recursive: true });
  planted = undefined;
});

function foldersWithFiles(): string[] {
  const listed = execFileSync('git', ['ls-files', '-co', '--exclude-standard', 'src'], {
    cwd: root,
    encoding: 'utf8',
  });
  const files = listed
    .split('\n')
    .filter((file) => file.endsWith('.ts') && existsSync(join(root, file)));
  return [...new Set(files.map((file) => dirname(file)))];
}

it('every directory of src → a layer, and no directory in a layer that there is not', () => {
  const listed = folders.filter((name) => name !== 'src');
  const without = foldersWithFiles().filter(
    (folder) => folder !== 'src' && !listed.some((name) => `${folder}/`.startsWith(`${name}/`)),
  );
  expect(without).toEqual([]);
  expect(folders.filter((name) => !existsSync(join(root, name)))).toEqual([]);
});

it(`every directory of src → at most ${FILES_MAX} files`, () => {
  const large = foldersWithFiles().filter((folder) => {
    const files = readdirSync(join(root, folder)).filter((name) => name.endsWith('.ts'));
    return files.length > FILES_MAX;
  });
  expect(large).toEqual([]);
});

it('all that a directory may not import, planted in each directory → all of it is found', async () => {
  mkdirSync(join(root, 'build'), { recursive: true });
  planted = mkdtempSync(join(root, 'build/layers-'));
  const requested: string[] = [];
  for (const name of folders) {
    const folder = join(planted, name);
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, 'target.mjs'), 'export const target = 1;\n');
    const allowed = [name, ...layers.importsOf(name)];
    const imports = folders
      .filter((other) => !allowed.includes(other))
      .map((other) => {
        requested.push(`layers: ${name} → ${other}`);
        const path = relative(folder, join(planted as string, other, 'target.mjs'));
        return path.startsWith('.') ? path : `./${path}`;
      });
    if (layers.pure.includes(name)) {
      requested.push(`layers: ${name} is pure → node`);
      imports.push('node:fs');
    }
    writeFileSync(
      join(folder, 'planted.mjs'),
      imports.map((path) => `import '${path}';\n`).join(''),
    );
  }
  const { output } = await cruise(['.'], {
    baseDir: planted,
    validate: true,
    ruleSet: { forbidden: layers.rulesOf() },
  });
  const found = (output as ICruiseResult).summary.violations.map(({ to, rule }) => {
    return `${rule.name} → ${to.includes('/target.') ? dirname(to) : 'node'}`;
  });
  expect(requested.filter((item) => !found.includes(item))).toEqual([]);
  for (const arrow of [
    'layers: src/correctable → src/protocol',
    'layers: src/correctable is pure → node',
    'layers: src/bindings/memory → src/bindings/cache',
    'layers: src/bindings/remote → src/server/service',
    'layers: src/server/gateway → src/server/site',
    'layers: src/server/log → src/server/site',
    'layers: src/server → src/transport',
    'layers: demo → src/correctable',
  ])
    expect(requested).toContain(arrow);
});

/** The rules that planted sources break, each with the file that breaks it. */
async function brokenBy(
  files: Readonly<Record<string, string>>,
): Promise<[file: string, rule: string][]> {
  mkdirSync(join(root, 'build'), { recursive: true });
  planted = mkdtempSync(join(root, 'build/layers-'));
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

it('a circle of imports within one directory → found', async () => {
  const found = await brokenBy({
    'src/correctable/first.mjs': `import './second.mjs';\n`,
    'src/correctable/second.mjs': `import './first.mjs';\n`,
  });
  expect(found).toContainEqual(['src/correctable/first.mjs', 'no-cycles']);
});

it('the table of docs/ARCHITECTURE.md → is that of scripts/layers.json: if not, run `node scripts/layers.cjs`', () => {
  const page = readFileSync(join(root, 'docs/ARCHITECTURE.md'), 'utf8');
  expect(page).toBe(layers.withTable(page));
});
