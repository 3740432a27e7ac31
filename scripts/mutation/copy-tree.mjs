import { cpSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { root, run } from '../run.mjs';

/**
 * A copy of this tree, to be broken: what git knows of or would take, with `node_modules` by reference.
 *
 * @returns {Promise<string>} its path; it goes when this process ends
 */
export async function copyTree() {
  const copy = mkdtempSync(join(tmpdir(), 'correctables-mutants-'));
  process.once('exit', () => rmSync(copy, { recursive: true, force: true }));
  const { code, output } = await run('git', ['ls-files', '--cached', '--others', '--exclude-standard', '-z']);
  if (code !== 0) throw new Error(`git ls-files: ${output}`);
  for (const file of output.split('\0')) if (file !== '') cpSync(join(root, file), join(copy, file), { force: true });
  symlinkSync(join(root, 'node_modules'), join(copy, 'node_modules'));
  return copy;
}
