/** A conversion that is interrupted, and checkpoint files that are damaged. */
// @rule ROW-11
import { beforeEach, describe, expect, test } from 'vitest';
import { Random } from '../../../../../../src/server/service/collections/random.ts';
import { register, table } from '../../../../../../src/server/service/tables.ts';
import type { Files } from '../../../../../../src/server/node/storage/disk/files.ts';
import { recoverSite } from '../../../../../../src/server/node/storage/recovery.ts';
import { convertCheckpoint } from '../../../../../../src/server/node/storage/rows/convert-checkpoint.ts';
import { startCommit } from '../../../../../row-stores/commit.ts';
import { ImportWrites } from '../../../../../../src/server/node/storage/rows/import-state.ts';
import {
  openRows,
  type OpenedRows,
} from '../../../../../../src/server/node/storage/rows/open-rows.ts';
import {
  createCutEntry,
  getRowKey,
  getSavedRows,
  type SavedCut,
  readCut,
  readSection,
} from '../../../../../../src/server/node/storage/rows/saved-state.ts';
import { SimulatedRowDisk } from '../../../../../../src/testing/simulator/disk/simulated-row-disk.ts';
import { Timeline } from '../../../../../../src/testing/simulator/timeline.ts';
import {
  createCheckpointFile,
  createLogFile,
  type WrittenCommit,
} from '../../../../../support/checkpoint-files.ts';
import { replaceMethods } from '../../../../../support/replace-methods.ts';

const FOLDER = 'sites/a';
const TABLES = { notes: table({ title: register<string>() }, { indexes: ['title'] }) };

/** The files of one site, and the disk of its rows. */
class Directory {
  readonly timeline = new Timeline();
  rowDisk: SimulatedRowDisk;
  readonly #random: Random;
  readonly files = new Map<string, Buffer>();
  hasRows = false;

  constructor(seed = 1) {
    this.#random = new Random(seed);
    this.rowDisk = this.#createDisk();
  }

  #createDisk(): SimulatedRowDisk {
    const [timeline, random] = [this.timeline, this.#random];
    return new SimulatedRowDisk({ timeline, random, syncMeanMs: 5 });
  }

  /** Writes both copies of a checkpoint. */
  write(file: number, commits: readonly WrittenCommit[]): this {
    const bytes = createCheckpointFile(file, commits);
    for (const name of this.names(file)) this.files.set(name, bytes);
    return this;
  }

  /** Writes a log file that begins at this entry. */
  writeLog(file: number, local: number, checkpoint?: { file: number; local: number }): this {
    const header = { local, red: 0, ...(checkpoint && { checkpoint: { red: 0, ...checkpoint } }) };
    this.files.set(`000000000${file}.log`, createLogFile(file, header));
    return this;
  }

  names(file: number): readonly [string, string] {
    return [`000000000${file}.checkpoint`, `000000000${file}.checkpoint-copy`];
  }

  /** Damages a byte near the end of a file, behind its first commit. */
  damage(name: string, fromEnd = 3): this {
    const bytes = Buffer.from(this.files.get(name)!);
    const at = bytes.length - fromEnd;
    bytes[at] = bytes[at]! ^ 1;
    this.files.set(name, bytes);
    return this;
  }

  get port(): Files {
    const get = (path: string): Buffer => {
      const bytes = this.files.get(path.replace(`${FOLDER}/`, ''));
      if (bytes === undefined) throw new Error(`there is no ${path}`);
      return bytes;
    };
    const files: Partial<Files> = {
      list: (path) => {
        if (path === FOLDER) return [...this.files.keys()];
        return this.hasRows ? ['CURRENT'] : [];
      },
      read: get,
      readPart: (path, position, length) => get(path).subarray(position, position + length),
    };
    return files as Files;
  }

  /** Opens the rows. The result stays empty if it never ends. */
  open(): { error?: Error | undefined; opened?: OpenedRows | undefined } {
    const result: { error?: Error | undefined; opened?: OpenedRows | undefined } = {};
    const rows = {
      open: (
        _: string,
        done: (error: undefined, store: ReturnType<SimulatedRowDisk['open']>) => void,
      ) => {
        this.hasRows = true;
        done(undefined, this.rowDisk.open());
      },
      remove: (folder: string, done: (error: undefined) => void) => {
        expect(folder).toBe(`${FOLDER}/rows`);
        this.hasRows = false;
        this.rowDisk = this.#createDisk();
        done(undefined);
      },
    };
    const timing = {
      soon: (run: () => void) => this.timeline.schedule(0, run),
      later: (run: () => void) => this.timeline.schedule(1, run),
      afterMs: (delayMs: number, run: () => void) => this.timeline.schedule(delayMs, run),
    };
    const sizes = { batchBytes: 400, orderBytes: 600, maxChunk: 3, maxTurnCharacters: 100 };
    openRows(
      { files: this.port, folder: FOLDER, rows, timing, tables: TABLES, ...sizes },
      (error, opened) => Object.assign(result, { error, opened }),
    );
    return result;
  }

  /** Runs until the time is over. Stores close between two events of the timeline. */
  async run(forMs = 100_000): Promise<void> {
    const end = this.timeline.nowMs + forMs;
    for (let turn = 0; turn < 5; turn += 1) {
      this.timeline.run(end);
      await new Promise((resolve) => setImmediate(resolve));
    }
  }

  async openNow(): Promise<{ error?: Error | undefined; opened?: OpenedRows | undefined }> {
    const result = this.open();
    await this.run();
    return result;
  }
}

const row = (key: string, title: string): [string, string, unknown] => [
  'rows',
  `notes\u0000${key}`,
  [{ title: [title, [1, 1, 1, 1]] }],
];
const slot = (name: string, value: unknown): [string, string, unknown] => ['slots', name, value];
const at = (local: number): Pick<WrittenCommit, 'contained'> => ({ contained: { local, red: 0 } });

function readRows({ rowDisk }: Directory): Record<string, unknown> {
  const saved = getSavedRows(rowDisk.open(), 'rows');
  const names = ['a', 'b', 'c', 'd'].flatMap((key) => {
    const value = saved.get(`notes\u0000${key}`) as [{ title: [string] }] | undefined;
    return value === undefined ? [] : [[key, value[0].title[0]] as const];
  });
  return Object.fromEntries(names);
}

let directory: Directory;
beforeEach(() => {
  directory = new Directory();
});

describe('the rows of a file', () => {
  test('of several commits, the last row of each name counts, under the number of the file', async () => {
    directory
      .write(4, [
        {
          frames: [
            [row('a', '1'), slot('x', 1)],
            [row('b', '1'), row('a', '1')],
          ],
          ...at(2),
        },
        { frames: [[row('a', '2')], [['rows', 'notes\u0000b'], slot('y', 2)]], ...at(5) },
        {
          frames: [[row('c', '3'), ['slots', 'x']]],
          ...at(7),
          smallParts: { shared: {}, own: { memoryBytes: 7 } },
        },
      ])
      .writeLog(2, 7);
    const { error, opened } = await directory.openNow();
    expect(error).toBeUndefined();
    expect(readRows(directory)).toEqual({ a: '2', c: '3' });
    const store = directory.rowDisk.open();
    expect(readCut(store)).toMatchObject({ number: 4, contained: { local: 7, red: 0 } });
    expect(readSection(store, 'slots', readCut(store) as SavedCut)).toEqual(new Map([['y', 2]]));
    expect(opened?.damages).toEqual([]);
    expect(opened?.oldFiles).toEqual(directory.names(4).map((name) => `${FOLDER}/${name}`));
  });

  test('what stands behind the last commit does not count, nor a newer file without one', async () => {
    directory.write(4, [{ frames: [[row('a', '1')]] }, { frames: [[row('a', '2')]] }]);
    for (const name of directory.names(4)) {
      const bytes = directory.files.get(name)!;
      directory.files.set(name, bytes.subarray(0, bytes.length - 5));
    }
    directory.write(5, []);
    const { opened } = await directory.openNow();
    expect(readRows(directory)).toEqual({ a: '1' });
    expect(opened?.damages).toEqual([]);
    expect(opened?.oldFiles).toHaveLength(4);
  });
});

describe('damage', () => {
  const two = (): Directory =>
    new Directory()
      .write(4, [{ frames: [[row('a', '1')]], ...at(3) }])
      .write(5, [{ frames: [[row('a', '2')], [row('b', '2')]], ...at(7) }]);

  test('of one copy → the other one is read, and the damage is reported', async () => {
    directory = two().damage(directory.names(5)[0]).writeLog(2, 7, { file: 5, local: 7 });
    const { opened } = await directory.openNow();
    expect(readRows(directory)).toEqual({ a: '2', b: '2' });
    // The last frame cannot be read, as if it had not been written as a whole.
    expect(opened?.damages).toEqual([]);
  });

  test('a missing copy is reported', async () => {
    directory = two().writeLog(2, 7);
    directory.files.delete(directory.names(5)[1]);
    const { opened } = await directory.openNow();
    expect(opened?.damages).toEqual([`${FOLDER}/${directory.names(5)[1]} is gone`]);
  });

  test('of both copies, and the logs reach back to the file before → that one', async () => {
    directory = two().writeLog(2, 3, { file: 5, local: 7 });
    for (const name of directory.names(5)) directory.damage(name, 200);
    const { error, opened } = await directory.openNow();
    expect(error).toBeUndefined();
    expect(readRows(directory)).toEqual({ a: '1' });
    expect(opened?.damages).toHaveLength(2);
    const { damages } = recoverSite(directory.port, directory.rowDisk.open(), FOLDER);
    expect(damages).toEqual([`commit 5 is gone: ${FOLDER}/rows ends with commit 4`]);
  });

  test('of both copies, and the logs begin later → a refusal, and nothing has changed', async () => {
    directory = two().writeLog(2, 7, { file: 5, local: 7 });
    for (const name of directory.names(5)) directory.damage(name, 200);
    const before = new Map(directory.files);
    const { error } = await directory.openNow();
    expect(error).toMatchObject({ code: 'UNAVAILABLE' });
    expect(error?.message).toMatch(/begins at entry 7, and the rows are those at entry 3 \(.*dama/);
    expect(directory.files).toEqual(before);
    expect(readCut(directory.rowDisk.open())).toBeUndefined();
  });

  test('of the only file → refused, unless the logs have all', async () => {
    const damaged = (local: number): Directory => {
      const made = new Directory().write(4, [{ frames: [[row('a', '1')]], ...at(3) }]);
      for (const name of made.names(4)) made.damage(name);
      return made.writeLog(2, local);
    };
    expect((await damaged(3).openNow()).error?.message).toMatch(/there are no rows/);
    const whole = damaged(0);
    const { error, opened } = await whole.openNow();
    expect([error, opened?.oldFiles.length]).toEqual([undefined, 2]);
    expect(readCut(whole.rowDisk.open())).toBeUndefined();
  });
});

describe('an interruption', () => {
  const create = (seed: number): Directory => {
    const rows = Array.from({ length: 30 }, (_, index) => row(`row ${index}`, 'x'.repeat(50)));
    const slots = Array.from({ length: 10 }, (_, index) => slot(`slot ${index}`, index));
    return new Directory(seed)
      .write(4, [{ frames: [[...rows, ...slots], [row('a', '1')]], ...at(3) }])
      .writeLog(2, 3);
  };

  /** Crashes at many moments. Returns how many conversions did not end, and what then was wrong. */
  async function interrupt(Writes = ImportWrites): Promise<{ count: number; faults: string[] }> {
    const faults: string[] = [];
    let count = 0;
    for (let seed = 1; seed <= 60; seed += 1) {
      const crashed = create(seed);
      const store = crashed.rowDisk.open();
      let isDone = false;
      const timing = {
        soon: (run: () => void) => crashed.timeline.schedule(0, run),
        later: (run: () => void) => crashed.timeline.schedule(1, run),
        afterMs: (delayMs: number, run: () => void) => crashed.timeline.schedule(delayMs, run),
      };
      const options = { files: crashed.port, folder: FOLDER, store, timing, tables: TABLES };
      const sizes = { batchBytes: 400, orderBytes: 600, maxChunk: 3, maxTurnCharacters: 100 };
      convertCheckpoint(
        { ...options, ...sizes, isNew: true },
        () => {
          isDone = true;
        },
        Writes,
      );
      crashed.timeline.run(seed * 4);
      crashed.hasRows = true;
      crashed.rowDisk.crash();
      if (!isDone) count += 1;
      const { error } = await crashed.openNow();
      if (error !== undefined) faults.push(error.message);
      try {
        check(crashed);
      } catch (fault) {
        faults.push((fault as Error).message);
      }
    }
    return { count, faults };
  }

  function check(made: Directory): void {
    const store = made.rowDisk.open();
    expect(readCut(store)).toMatchObject({ number: 4, contained: { local: 3, red: 0 } });
    expect(readSection(store, 'slots', readCut(store) as SavedCut).size).toBe(10);
    const saved = getSavedRows(store, 'rows');
    for (let index = 0; index < 30; index += 1)
      expect(saved.get(`notes\u0000row ${index}`)).toBeDefined();
    expect(readRows(made)).toEqual({ a: '1' });
  }

  test('by a crash at any moment → the next start has all rows', async () => {
    const { count, faults } = await interrupt();
    expect(faults).toEqual([]);
    expect(count).toBeGreaterThan(20);
  });

  test('cut-first → found', async () => {
    const fault = replaceMethods(ImportWrites, (original) => ({
      createBatch: () => {
        const batch = original.createBatch();
        batch.put(...createCutEntry(original.cut));
        return batch;
      },
    }));
    expect((await interrupt(fault)).faults).not.toEqual([]);
  });

  test('rows that an earlier conversion left are gone', async () => {
    directory = create(1);
    const key = getRowKey('rows', 'notes\u0000b');
    directory.hasRows = true;
    startCommit(
      directory.rowDisk.open(),
      { puts: [[key, Buffer.from('rest')]], removals: [] },
      () => {},
    );
    directory.timeline.run(1000);
    const { error } = await directory.openNow();
    expect(error).toBeUndefined();
    check(directory);
    expect(directory.rowDisk.open().get(key)).toBeUndefined();
  });

  test('a full disk → its error, and the files are as before', async () => {
    directory = create(1);
    const before = new Map(directory.files);
    directory.rowDisk.isFull = true;
    expect((await directory.openNow()).error).toMatchObject({
      code: 'UNAVAILABLE',
      message: expect.stringContaining('no room on the disk'),
    });
    expect(directory.files).toEqual(before);
    directory.rowDisk.isFull = false;
    expect((await directory.openNow()).error).toBeUndefined();
    check(directory);
  });
});

describe('a store that has rows', () => {
  test('without a cut, and logs that need them → a refusal, and it is not emptied', async () => {
    const key = getRowKey('rows', 'notes\u0000b');
    directory.hasRows = true;
    directory.writeLog(2, 3);
    startCommit(
      directory.rowDisk.open(),
      { puts: [[key, Buffer.from('row')]], removals: [] },
      () => {},
    );
    directory.timeline.run(1000);
    const { error } = await directory.openNow();
    expect(error?.message).toMatch(/the local log begins at entry 3, and there are no rows/);
    expect(directory.rowDisk.open().get(key)).toBeDefined();
  });

  test('and a newer checkpoint, of the version before → the checkpoint is converted', async () => {
    directory.write(4, [{ frames: [[row('a', '1'), row('b', '1')]], ...at(3) }]).writeLog(2, 3);
    await directory.openNow();
    directory.write(6, [{ frames: [[row('a', '2')]], ...at(3) }]);
    const { error, opened } = await directory.openNow();
    expect(error).toBeUndefined();
    expect(readRows(directory)).toEqual({ a: '2' });
    expect(opened?.oldFiles).toHaveLength(4);
  });

  test('and no files of the version before → is opened as it is', async () => {
    directory.write(4, [{ frames: [[row('a', '1')]], ...at(3) }]).writeLog(2, 3);
    await directory.openNow();
    for (const name of directory.names(4)) directory.files.delete(name);
    const { opened } = await directory.openNow();
    expect(opened).toMatchObject({ damages: [], oldFiles: [] });
    expect(readRows(directory)).toEqual({ a: '1' });
  });
});
