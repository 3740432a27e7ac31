/**
 * Cassandra's own shell, from PyPI, in a Python environment of the cache. It speaks the protocol's
 * newest version.
 */
import { execFile } from 'node:child_process';
import { existsSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { downloadsFolder } from '../../../engines/folders.ts';

const run = promisify(execFile);
const VERSION = '6.2.2';
const INSTALL_MS = 150_000;

/** Runs one statement and returns what the shell prints. */
export type Shell = (address: string, cql: string) => Promise<string>;

/** The shell, installed once; or why it cannot be. */
export async function cqlsh(): Promise<Shell | { readonly missing: string }> {
  const home = join(downloadsFolder('python'), `cqlsh-${VERSION}`);
  try {
    if (!existsSync(home)) await install(home);
  } catch (error) {
    return { missing: `cqlsh needs Python 3 with venv, and PyPI: ${(error as Error).message}` };
  }
  return async (address, cql) => {
    const [host = '', port = ''] = address.split(':');
    // By its interpreter: the script names the folder in which it was installed.
    const args = [join(home, 'bin', 'cqlsh'), '--execute', cql, host, port];
    return (await run(join(home, 'bin', 'python3'), args)).stdout;
  };
}

async function install(home: string): Promise<void> {
  // Made beside and moved at the end: a broken installation is never taken for a whole one.
  const partial = mkdtempSync(`${home}.`);
  try {
    await run('python3', ['-m', 'venv', partial], { timeout: INSTALL_MS });
    const pip = [
      '-m',
      'pip',
      'install',
      '--quiet',
      '--disable-pip-version-check',
      `cqlsh==${VERSION}`,
    ];
    await run(join(partial, 'bin', 'python3'), pip, { timeout: INSTALL_MS });
    if (!existsSync(home)) renameSync(partial, home);
  } finally {
    rmSync(partial, { recursive: true, force: true });
  }
}
