/**
 * Other checkouts of this repository, whose processes are measured beside those of this one. A
 * process of a checkout runs its own scripts, so both sides of a wire have the same version.
 */
import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { UsageError } from '../../engines/usage-error.ts';
import { createCommit } from './provenance.ts';

const own = fileURLToPath(new URL('../../', import.meta.url));

/** Returns a script of a checkout. @param checkout a directory. Default: this checkout */
export function findScript(path: string, checkout: string = own): URL {
  return pathToFileURL(join(resolve(checkout), path));
}

/**
 * Checks that processes of a checkout can be started.
 *
 * @throws UsageError if the directory is no built checkout
 */
export function checkCheckout(checkout: string): void {
  const isBuilt = ['package.json', 'node_modules', 'dist/index.js'].every((name) =>
    existsSync(join(resolve(checkout), name)),
  );
  if (isBuilt) return;
  throw new UsageError(
    `--beside must be a built checkout, got "${checkout}". Create one: git worktree add DIR COMMIT && cd DIR && npm ci && npm run build`,
  );
}

/** Names the commit of a checkout in a result. */
export function describeCheckout(checkout: string | undefined): Record<string, string> {
  return checkout === undefined ? {} : { 'the other checkout': createCommit(resolve(checkout)) };
}
