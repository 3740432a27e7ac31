/** Files that are held open while a running process changes their folder. */
// @rule STO-36
import { appendFileSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, expect, onTestFinished, test, vi } from 'vitest';
import { PinnedFiles } from '../../../../../src/server/node/commands/pinned-files.ts';
import { NodeFiles } from '../../../../../src/server/node/storage/disk/node-files.ts';
import { temporaryFolder } from '../../../../support/temporary-folder.ts';

const [OLD, NEW, CHECKPOINT] = ['1.log', '2.log', '1.checkpoint'];
let root: string;
beforeEach(() => {
  root = temporaryFolder();
  mkdirSync(join(root, 'site'));
  for (const name of [OLD, CHECKPOINT]) writeFileSync(join(root, 'site', name), `${name} before`);
  writeFileSync(join(root, 'manifest'), 'other');
  return () => {
    vi.restoreAllMocks();
  };
});

function pin(): PinnedFiles {
  const files = new PinnedFiles(root, new NodeFiles(root), ['site']);
  onTestFinished(() => files.close());
  return files;
}

const pathOf = (name: string): string => join(root, 'site', name);
const textOf = (bytes: Uint8Array): string => Buffer.from(bytes).toString();

test('files are removed, created and appended to → read as they were', () => {
  const files = pin();
  rmSync(pathOf(OLD));
  writeFileSync(pathOf(NEW), 'new');
  appendFileSync(pathOf(CHECKPOINT), ', and after');
  expect(files.list('site').toSorted()).toEqual([CHECKPOINT, OLD]);
  expect(textOf(files.read(`site/${OLD}`))).toBe('1.log before');
  expect(textOf(files.read(`site/${CHECKPOINT}`))).toBe('1.checkpoint before');
  expect(textOf(files.readPart(`site/${CHECKPOINT}`, 13, 100))).toBe('before');
  expect(files.readPart(`site/${CHECKPOINT}`, 100, 1)).toHaveLength(0);
});

test('files of other folders → read as they are', () => {
  const files = pin();
  expect(textOf(files.read('manifest'))).toBe('other');
  expect(files.list('.')).toContain('manifest');
  expect(textOf(files.readPart('manifest', 1, 2))).toBe('th');
});

test('a file goes or comes while the folder is opened → opened again', () => {
  const list = vi.spyOn(NodeFiles.prototype, 'list');
  list.mockReturnValueOnce([OLD, 'gone.log']);
  list.mockReturnValueOnce([OLD]);
  expect([...pin().list('site')].toSorted()).toEqual([CHECKPOINT, OLD]);
});

test('files go at every attempt → ENOENT', () => {
  vi.spyOn(NodeFiles.prototype, 'list').mockReturnValue(['gone.log']);
  expect(pin).toThrow(expect.objectContaining({ code: 'ENOENT' }));
});
