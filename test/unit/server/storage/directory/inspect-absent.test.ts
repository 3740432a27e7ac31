/** `inspect` of what is no data folder. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { inspectDataDirectory } from '../../../../../src/server/storage/directory/inspect.ts';

test.each([
  ['none at all', 'absent', 'which does not exist'],
  ['one without a manifest', '.', 'which has no manifest.json'],
])('inspect: %s → the error names the cause', (_, name, reported) => {
  const folder = mkdtempSync(join(tmpdir(), 'correctables-inspect-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const error = { code: 'INVALID_ARGUMENT', message: expect.stringContaining(reported) };
  expect(() => inspectDataDirectory(join(folder, name))).toThrow(expect.objectContaining(error));
});
