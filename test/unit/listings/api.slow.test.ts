import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, expect, it } from 'vitest';

type Entry = readonly [subpath: string, source: string];

const { reportsOf } = (await import('../../../scripts/api.mjs' as string)) as {
  reportsOf(entries: readonly Entry[]): ReadonlyMap<string, string>;
};
const build = fileURLToPath(new URL('../../../build', import.meta.url));
let folder = '';

beforeEach(() => {
  mkdirSync(build, { recursive: true });
  folder = mkdtempSync(join(build, 'api-'));
});

afterEach(() => rmSync(folder, { recursive: true }));

/** The report of a package with one entry, made of these files. */
function reportOf(files: Readonly<Record<string, string>>): string | undefined {
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
  return reportsOf([['.', join(folder, 'index.ts')]]).get('index.txt');
}

const PARTS = `interface Inner { readonly n: number }
export interface Outer { readonly inner: Inner }
/** Says how. */
export function make(n: number): Outer { return { inner: { n } }; }`;

it('an entry → its names with their declarations, and what they reach', () => {
  const report = reportOf({
    'parts.ts': PARTS,
    'index.ts': "export { make as build } from './parts.ts';\nexport const two = 2;\n",
  });
  expect(report).toBe(`# correctables: 2 names

build is function make(n: number): Outer;

const two = 2;

# reached, and exported by no entry: 2
Inner
Outer
`);
});

it('a parameter more → another report', () => {
  const index = "export { make } from './parts.ts';\nexport type { Outer } from './parts.ts';\n";
  const before = reportOf({ 'parts.ts': PARTS, 'index.ts': index });
  const after = reportOf({ 'parts.ts': PARTS.replace('n: number)', 'n: number, m?: number)'), 'index.ts': index });
  expect(before).not.toBe(after);
  expect(after).toContain('function make(n: number, m?: number): Outer;');
});

it('a comment or a body that changes → the same report', () => {
  const index = "export { make } from './parts.ts';\n";
  const before = reportOf({ 'parts.ts': PARTS, 'index.ts': index });
  const after = reportOf({
    'parts.ts': PARTS.replace('Says how', 'Says why').replace('{ n }', '{ n: n + 1 }'),
    'index.ts': index,
  });
  expect(after).toBe(before);
});
