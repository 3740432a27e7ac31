/** `--join` on the directory of a site that was closed. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { checkJoiningDirectory } from '../../../src/cli/serve.ts';

test('--join on the directory of a site that was retired is refused; on one that is new or in use it is not (T7)', () => {
  const folder = mkdtempSync(join(tmpdir(), 'correctables-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  expect(() => checkJoiningDirectory(folder)).not.toThrow();
  writeFileSync(join(folder, 'node.json'), JSON.stringify({ site: 'a' }));
  expect(() => checkJoiningDirectory(folder)).not.toThrow();
  writeFileSync(join(folder, 'node.json'), JSON.stringify({ site: 'a', forked: 'a was closed: it was retired' }));
  const refused = {
    code: 'UNAVAILABLE',
    field: 'rebuild',
    message: expect.stringContaining('Join on an empty directory'),
  };
  expect(() => checkJoiningDirectory(folder)).toThrow(expect.objectContaining(refused));
});
