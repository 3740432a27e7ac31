/** `inspect` of what is no data folder. */
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { inspectDataDirectory } from '../../../../../src/server/node/commands/inspect-directory.ts';
import { temporaryFolder } from '../../../../support/temporary-folder.ts';

test.each([
  ['none at all', 'absent', 'which does not exist'],
  ['one without a manifest', '.', 'which has no manifest.json'],
])('inspect: %s → the error names the cause', async (_, name, reported) => {
  const folder = temporaryFolder();
  const error = { code: 'INVALID_ARGUMENT', message: expect.stringContaining(reported) };
  await expect(inspectDataDirectory(join(folder, name))).rejects.toThrow(
    expect.objectContaining(error),
  );
});
