/** Temporary directories for tests. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';

/**
 * Makes a directory for the test that runs, or for the one that is being prepared. It is removed at
 * the end of that.
 */
export function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'correctables-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}
