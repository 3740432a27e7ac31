/**
 * `npm run build`: builds `dist/`. With `--if-needed` it does so only if a source is newer than the
 * last build. Progress and problems go to stderr, because what the build precedes may print JSON.
 */
import { existsSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { build } from 'tsdown';
import { root } from './exec.mjs';

/** The build writes this file too, so its time is that of the last build. */
const BUILT = join(root, 'dist/cli/main.js');
const SOURCES = [
  'src',
  'package.json',
  'tsconfig.json',
  'tsdown.config.ts',
  'scripts/entries.json',
  'scripts/short-messages.ts',
];

/**
 * Returns when a file was last changed, or a folder or anything below it: in a folder, a file may
 * be gone.
 */
function changedAt(path) {
  const stats = statSync(path);
  const below = stats.isDirectory() ? readdirSync(path) : [];
  return Math.max(stats.mtimeMs, ...below.map((name) => changedAt(join(path, name))));
}

function isBuilt() {
  if (!existsSync(BUILT)) return false;
  const builtAt = statSync(BUILT).mtimeMs;
  return SOURCES.every((name) => changedAt(join(root, name)) < builtAt);
}

if (!process.argv.includes('--if-needed') || !isBuilt()) {
  const from = performance.now();
  process.stderr.write('Building the package … ');
  try {
    await build({ cwd: root, logLevel: 'warn' });
    process.stderr.write(`done in ${((performance.now() - from) / 1000).toFixed(0)} s\n`);
  } catch (error) {
    console.error(error);
    process.exitCode = 1;
  }
}
