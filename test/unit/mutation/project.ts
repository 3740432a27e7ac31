/** A small project in a temporary folder. */
import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';

const CONFIG = `export default { test: { projects: [{ test: { name: 'unit', include: ['test/**/*.test.ts'] } }] } };`;
const COMPILER = {
  compilerOptions: {
    target: 'ES2023',
    module: 'NodeNext',
    moduleResolution: 'NodeNext',
    strict: true,
    noEmit: true,
    types: [],
    lib: ['ES2023'],
    allowImportingTsExtensions: true,
  },
};

/**
 * @returns its folder, with each source in `src` and each test in `test`, one alone as `a.test.ts`; it goes when the
 * test ends, unless `kept` is given, which gets what removes it
 */
export function project(
  sources: Record<string, string>,
  tests: string | Record<string, string> = '',
  kept: (remove: () => void) => unknown = onTestFinished,
): string {
  const root = mkdtempSync(join(tmpdir(), 'correctables-mutation-test-'));
  kept(() => rmSync(root, { recursive: true, force: true }));
  mkdirSync(join(root, 'src'));
  mkdirSync(join(root, 'test'));
  cpSync('scripts/mutation', join(root, 'scripts/mutation'), { recursive: true });
  symlinkSync(join(process.cwd(), 'node_modules'), join(root, 'node_modules'));
  writeFileSync(join(root, 'package.json'), JSON.stringify({ name: 'a', type: 'module', exports: {} }));
  writeFileSync(join(root, 'tsconfig.json'), JSON.stringify(COMPILER));
  writeFileSync(join(root, 'vitest.config.ts'), CONFIG);
  for (const [name, text] of Object.entries(sources)) writeFileSync(join(root, 'src', name), text);
  const named = typeof tests === 'string' ? { 'a.test.ts': tests } : tests;
  for (const [name, text] of Object.entries(named)) writeFileSync(join(root, 'test', name), text);
  return root;
}
