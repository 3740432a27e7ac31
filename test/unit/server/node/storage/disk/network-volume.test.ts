/** Volumes of the network that repeat a change whose reply was lost. */
import fs from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import {
  lockDirectory,
  type DirectoryLock,
} from '../../../../../../src/server/node/storage/disk/directory-lock.ts';
import { NodeFiles } from '../../../../../../src/server/node/storage/disk/node-files.ts';
import { temporaryFolder } from '../../../../../support/temporary-folder.ts';

let root: string;
beforeEach(() => {
  root = temporaryFolder();
});

/** Executes the next call of `name`, and answers it as its repetition fails. */
function loseReply(name: 'linkSync' | 'renameSync', code: string): void {
  const execute = fs[name].bind(fs);
  const spy = vi.spyOn(fs, name).mockImplementationOnce((from, to) => {
    execute(from, to);
    throw Object.assign(new Error(`${code}: ${name}`), { code, syscall: name.slice(0, -4) });
  });
  onTestFinished(() => spy.mockRestore());
}

function take(): DirectoryLock {
  const lock = lockDirectory(join(root, 'lock'));
  onTestFinished(() => lock.release());
  return lock;
}

// @rule STO-14
describe('the lock of a directory', () => {
  test.each(['EEXIST', 'EIO'])(
    'a link that was made, and reported as %s → taken, and held',
    (code) => {
      loseReply('linkSync', code);
      const lock = take();
      expect(lock.isHeld()).toBe(true);
      expect(fs.readdirSync(root)).toEqual(['lock']);
      expect(() => lockDirectory(join(root, 'lock'))).toThrow(`process ${process.pid} has it open`);
    },
  );

  test('a link of another process → in use', () => {
    take();
    const spy = vi.spyOn(fs, 'linkSync');
    onTestFinished(() => spy.mockRestore());
    expect(() => lockDirectory(join(root, 'lock'))).toThrow('in use');
    expect(fs.readdirSync(root)).toEqual(['lock']);
  });

  test('a lock that was left behind, whose removal was made and reported as missing → taken', () => {
    fs.writeFileSync(join(root, 'lock'), 'no owner');
    loseReply('renameSync', 'ENOENT');
    expect(take().isHeld()).toBe(true);
    expect(fs.readdirSync(root)).toEqual(['lock']);
  });
});

describe('files', () => {
  test('a file that was replaced, and reported as missing → replaced', () => {
    const files = new NodeFiles(root);
    files.replace('manifest', Buffer.from('old'));
    loseReply('renameSync', 'ENOENT');
    files.replace('manifest', Buffer.from('new'));
    expect(Buffer.from(files.read('manifest')).toString()).toBe('new');
  });

  test('a directory that was moved, and reported as missing → moved; one that is missing fails', () => {
    const files = new NodeFiles(root);
    files.makeDirectory('from');
    loseReply('renameSync', 'ENOENT');
    files.moveDirectory('from', 'to');
    expect(fs.readdirSync(root)).toEqual(['to']);
    expect(() => files.moveDirectory('from', 'to')).toThrow('ENOENT');
  });
});
