/** What an error of the system is explained by when a data directory is opened. */
import fs from 'node:fs';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { openDataDirectory } from '../../../../../../src/server/node/storage/directory/data-directory.ts';
import { temporaryFolder } from '../../../../../support/temporary-folder.ts';

const DEPLOYMENT = {} as Parameters<typeof openDataDirectory>[1];

test.each([
  ['EACCES', 'permission denied', 'cannot be made or written by this user'],
  ['EPERM', 'operation not permitted', 'cannot be made or written'],
])('%s → the error names the call and the file, and what to do', (code, text, reason) => {
  const path = temporaryFolder();
  const cause = `${code}: ${text}, open '${join(path, 'lock')}'`;
  const open = vi.spyOn(fs, 'openSync').mockImplementation(() => {
    throw Object.assign(new Error(cause), { code, syscall: 'open' });
  });
  const opening = (): unknown => openDataDirectory(path, { ...DEPLOYMENT, sites: ['a'] });
  const message = `dataDir: '${path}' ${reason}: ${cause}. Nothing was changed. Let the user of this process write there`;
  try {
    expect(opening).toThrow(message);
  } finally {
    open.mockRestore();
  }
});
