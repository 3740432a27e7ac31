/** `inspect` of what is no data folder. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { inspectDataFolder } from '../../../../../src/server/storage/folder/inspect.ts';

test.each([
  ['none at all', 'absent', 'which does not exist'],
  ['one without a manifest', '.', 'which has no manifest.json'],
])('inspect: %s → says so', (_, name, said) => {
  const folder = mkdtempSync(join(tmpdir(), 'correctables-inspect-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const error = { code: 'INVALID_ARGUMENT', message: expect.stringContaining(said) };
  expect(() => inspectDataFolder(join(folder, name))).toThrow(expect.objectContaining(error));
});
