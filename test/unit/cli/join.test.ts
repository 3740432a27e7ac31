/** `--join` on the directory of a site that was closed. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { checkJoiningDirectory } from '../../../src/cli/serve.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

test('--join on the directory of a site that was retired is refused; on one that is new or in use it is not (T7)', () => {
  const folder = temporaryFolder();
  expect(() => checkJoiningDirectory(folder)).not.toThrow();
  writeFileSync(join(folder, 'node.json'), JSON.stringify({ site: 'a' }));
  expect(() => checkJoiningDirectory(folder)).not.toThrow();
  writeFileSync(
    join(folder, 'node.json'),
    JSON.stringify({ site: 'a', forked: 'a was closed: it was retired' }),
  );
  const refused = {
    code: 'UNAVAILABLE',
    field: 'rebuild',
    message: expect.stringContaining('Join on an empty directory'),
  };
  expect(() => checkJoiningDirectory(folder)).toThrow(expect.objectContaining(refused));
});
