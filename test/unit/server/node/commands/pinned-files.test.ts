/** Files that are held open as they were at one moment, while a process changes them. */
// @rule STO-25
// @rule STO-36
import fs from 'node:fs';
import { basename, join } from 'node:path';
import { beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { PinnedFiles } from '../../../../../src/server/node/commands/pinned-files.ts';
import { NodeFiles } from '../../../../../src/server/node/storage/disk/node-files.ts';
import { formatSegmentName } from '../../../../../src/server/node/storage/format/file-names.ts';
import {
  encodeFrame,
  HEADER_BYTES,
  sealFrame,
} from '../../../../../src/server/node/storage/format/frames.ts';
import { readLog } from '../../../../../src/server/node/storage/format/log-file-reader.ts';
import { packEntries } from '../../../../../src/server/node/storage/format/packed-entries.ts';
import { temporaryFolder } from '../../../../support/temporary-folder.ts';

const [OLD, NEW, CHECKPOINT] = [formatSegmentName(1), formatSegmentName(2), '1.checkpoint'];
const FILE_BYTES = 64 * 1024;
let root: string;
beforeEach(() => {
  root = temporaryFolder();
  fs.mkdirSync(join(root, 'site'));
  fs.writeFileSync(pathOf(CHECKPOINT), `${CHECKPOINT} before`);
  fs.writeFileSync(join(root, 'manifest.json'), 'small');
  return () => {
    vi.restoreAllMocks();
  };
});

const pathOf = (name: string, site = 'site'): string => join(root, site, name);
const textOf = (bytes: Uint8Array): string => Buffer.from(bytes).toString();

function pin(...sites: string[]): PinnedFiles {
  const files = new PinnedFiles(root, ['site', ...sites]);
  onTestFinished(() => files.close());
  return files;
}

/** A log file of full size, to which frames are written one after the other. */
class WrittenLog {
  readonly #descriptor: number;
  readonly #file: number;
  position = 0;
  frames = 0;

  constructor(file: number, site = 'site') {
    this.#file = file;
    fs.writeFileSync(pathOf(formatSegmentName(file), site), new Uint8Array(FILE_BYTES));
    this.#descriptor = fs.openSync(pathOf(formatSegmentName(file), site), 'r+');
    onTestFinished(() => fs.closeSync(this.#descriptor));
    const header = { format: 2, term: file, local: 0, red: 0 };
    this.#append(encodeFrame(JSON.stringify(header), { file, index: 0 }));
  }

  write(): void {
    this.#append(this.#createFrame(this.frames));
  }

  /** Writes a frame and leaves the place of the one before it as it is. */
  skip(): void {
    const { length } = this.#createFrame(this.frames);
    this.frames += 1;
    this.position += length;
    this.write();
  }

  #createFrame(index: number): Buffer {
    const entry = { log: 'local', entry: { kind: 'red', id: 'x'.repeat(20) } } as const;
    const { bytes } = packEntries([entry], HEADER_BYTES, FILE_BYTES);
    return sealFrame(bytes, { file: this.#file, index, isSettled: true });
  }

  #append(frame: Buffer): void {
    fs.writeSync(this.#descriptor, frame, 0, frame.length, this.position);
    this.position += frame.length;
    this.frames += 1;
  }
}

const countEntries = (files: PinnedFiles, site = 'site'): number =>
  readLog(files.read(`${site}/${OLD}`), 1).entries.length;

test('files are removed, created and written to → read as they were', () => {
  const log = new WrittenLog(1);
  log.write();
  const files = pin();
  const before = log.position;
  log.write();
  fs.rmSync(pathOf(OLD));
  fs.writeFileSync(pathOf(NEW), 'new');
  fs.appendFileSync(pathOf(CHECKPOINT), ', and after');
  expect(files.list('site').toSorted()).toEqual([OLD, CHECKPOINT]);
  expect([countEntries(files), files.getWrittenBytes(`site/${OLD}`)]).toEqual([1, before]);
  const bytes = files.read(`site/${OLD}`);
  expect([bytes.length, bytes.subarray(before).every((byte) => byte === 0)]).toEqual([
    FILE_BYTES,
    true,
  ]);
  expect(textOf(files.read(`site/${CHECKPOINT}`))).toBe('1.checkpoint before');
  expect(textOf(files.readPart(`site/${CHECKPOINT}`, 13, 100))).toBe('before');
  expect(files.readPart(`site/${CHECKPOINT}`, 100, 1)).toHaveLength(0);
  expect(() => files.read(`site/${NEW}`)).toThrow(expect.objectContaining({ code: 'ENOENT' }));
});

test('the small files of the root → read as they were; other folders as they are', () => {
  fs.writeFileSync(join(root, 'lock'), '');
  const files = pin();
  fs.writeFileSync(join(root, 'draft'), 'replaced');
  fs.renameSync(join(root, 'draft'), join(root, 'manifest.json'));
  expect(textOf(files.read('manifest.json'))).toBe('small');
  expect(files.list('.')).toEqual(['manifest.json']);
  expect(files.list('other')).toEqual([]);
});

test('a process writes to both sites while they are pinned → read as both were at one moment', () => {
  fs.mkdirSync(join(root, 'other'));
  const [first, second] = [new WrittenLog(1), new WrittenLog(1, 'other')];
  const { readSync } = fs;
  let writes = 0;
  vi.spyOn(fs, 'readSync').mockImplementation(((...args: Parameters<typeof readSync>) => {
    // Each operation is written at the first site, and then at the second one.
    if (writes < 60) [first, second][writes++ % 2]?.write();
    return readSync(...args);
  }) as typeof readSync);
  const files = pin('other');
  vi.restoreAllMocks();
  const [origin, copy] = [countEntries(files), countEntries(files, 'other')];
  expect(origin - copy).toBeOneOf([0, 1]);
});

test('a file goes or comes, or is replaced, while files are opened → opened again', () => {
  new WrittenLog(1).write();
  const list = vi.spyOn(NodeFiles.prototype, 'list');
  list
    .mockReturnValueOnce(['manifest.json'])
    .mockReturnValueOnce([])
    .mockReturnValueOnce([OLD, NEW]);
  const { openSync } = fs;
  vi.spyOn(fs, 'openSync').mockImplementationOnce((...args) => {
    const descriptor = openSync(...args);
    fs.renameSync(join(root, 'manifest.json'), join(root, 'older'));
    fs.writeFileSync(join(root, 'manifest.json'), 'newer');
    return descriptor;
  });
  const files = pin();
  expect(files.list('site').toSorted()).toEqual([OLD, CHECKPOINT]);
  expect(textOf(files.read('manifest.json'))).toBe('newer');
});

test('a file of the next number has its first frame → the one before it is shown in full', () => {
  const log = new WrittenLog(1);
  log.write();
  log.skip();
  new WrittenLog(2).write();
  const files = pin();
  expect(files.getWrittenBytes(`site/${OLD}`)).toBe(FILE_BYTES);
  expect(readLog(files.read(`site/${OLD}`), 1).damage).toBeDefined();
  expect(readLog(files.read(`site/${NEW}`), 2).entries).toHaveLength(1);
});

test('a later frame proves a loss → the damage is shown', () => {
  const log = new WrittenLog(1);
  log.write();
  log.skip();
  const { damage, entries } = readLog(pin().read(`site/${OLD}`), 1);
  expect([entries.length, damage?.frames]).toEqual([1, { lost: 1, later: 1 }]);
});

test('the state that another site has sent is not in its place → read where it is', () => {
  new WrittenLog(1).write();
  fs.mkdirSync(join(root, 'arrived'));
  fs.renameSync(join(root, 'site'), join(root, 'arrived/site'));
  expect(countEntries(pin())).toBe(1);
});

test('files go at every attempt → UNAVAILABLE, and what to do', () => {
  vi.spyOn(NodeFiles.prototype, 'list').mockReturnValue(['gone.json']);
  const message = expect.stringContaining('come and go as fast as they are opened');
  expect(pin).toThrow(expect.objectContaining({ code: 'UNAVAILABLE', field: 'dataDir', message }));
});

describe('a store of rows', () => {
  const ROWS = 'site/rows';
  const inStore = (name: string): string => join(root, ROWS, name);

  beforeEach(() => {
    fs.mkdirSync(join(root, ROWS));
    for (const name of ['LOCK', 'LOG', 'LOG.old', '000001.ldb', '000002.log', 'MANIFEST-000003'])
      fs.writeFileSync(inStore(name), `${name} before`);
    fs.writeFileSync(inStore('CURRENT'), 'MANIFEST-000003\n');
  });

  /** Runs once, as soon as the file was opened. Returns the names of all opened files. */
  function onceOpened(file: string, run: () => void): readonly string[] {
    const opened: string[] = [];
    const { openSync } = fs;
    let isDone = false;
    vi.spyOn(fs, 'openSync').mockImplementation((path, ...args) => {
      const descriptor = openSync(path, ...args);
      const name = basename(String(path));
      opened.push(name);
      if (name === file && !isDone) {
        isDone = true;
        run();
      }
      return descriptor;
    });
    return opened;
  }

  test('is written to afterwards → read as it was; its lock is not opened', () => {
    const opened = onceOpened('', () => {});
    const files = pin();
    fs.appendFileSync(inStore('000002.log'), ', and after');
    fs.rmSync(inStore('000001.ldb'));
    expect(files.list(ROWS).toSorted()).toEqual([
      '000001.ldb',
      '000002.log',
      'CURRENT',
      'MANIFEST-000003',
    ]);
    expect(textOf(files.read(`${ROWS}/000002.log`))).toBe('000002.log before');
    expect(textOf(files.read(`${ROWS}/000001.ldb`))).toBe('000001.ldb before');
    expect(opened).not.toContain('LOCK');
    expect(files.list('site').toSorted()).toEqual([CHECKPOINT]);
  });

  test('gets a table meanwhile → only that is opened in addition', () => {
    const opened = onceOpened('MANIFEST-000003', () => {
      fs.writeFileSync(inStore('000004.ldb'), 'new');
      fs.appendFileSync(inStore('MANIFEST-000003'), ', and 4');
    });
    const files = pin();
    expect(textOf(files.read(`${ROWS}/MANIFEST-000003`))).toBe('MANIFEST-000003 before, and 4');
    expect(textOf(files.read(`${ROWS}/000004.ldb`))).toBe('new');
    expect(opened.filter((name) => name === '000001.ldb')).toHaveLength(1);
  });

  test('is opened by another process meanwhile → its files of then', () => {
    onceOpened('CURRENT', () => {
      fs.rmSync(inStore('MANIFEST-000003'));
      // The number of a table that no manifest had named may be used again.
      fs.rmSync(inStore('000001.ldb'));
      fs.writeFileSync(inStore('000001.ldb'), 'again');
      fs.writeFileSync(inStore('MANIFEST-000005'), 'newer');
      fs.writeFileSync(inStore('draft'), 'MANIFEST-000005\n');
      fs.renameSync(inStore('draft'), inStore('CURRENT'));
    });
    const files = pin();
    expect(textOf(files.read(`${ROWS}/CURRENT`))).toBe('MANIFEST-000005\n');
    expect(textOf(files.read(`${ROWS}/000001.ldb`))).toBe('again');
    expect(files.list(ROWS)).not.toContain('MANIFEST-000003');
  });

  test('more files than a process may open → UNAVAILABLE, and what to do', () => {
    vi.spyOn(fs, 'openSync').mockImplementation(() => {
      throw Object.assign(new Error('EMFILE: too many open files'), { code: 'EMFILE' });
    });
    expect(pin).toThrow(
      expect.objectContaining({
        code: 'UNAVAILABLE',
        message: expect.stringContaining('ulimit -n'),
      }),
    );
  });
});
