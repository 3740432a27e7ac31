/** What an import refuses, and how it shares its process. */
import { expect, test } from 'vitest';
import { Random } from '../../../../../../src/server/service/collections/random.ts';
import { queue, register, table } from '../../../../../../src/server/service/tables.ts';
import {
  importState,
  type ImportedRow,
  type ImportOptions,
} from '../../../../../../src/server/node/storage/rows/import-state.ts';
import { readCut } from '../../../../../../src/server/node/storage/rows/saved-state.ts';
import { SimulatedRowDisk } from '../../../../../../src/testing/simulator/disk/simulated-row-disk.ts';
import { Timeline } from '../../../../../../src/testing/simulator/timeline.ts';

const TABLES = { notes: table({ title: register<string>(), items: queue<string>() }) };

class Import {
  readonly timeline = new Timeline();
  readonly disk = new SimulatedRowDisk({
    timeline: this.timeline,
    random: new Random(1),
    syncMeanMs: 5,
  });
  readonly ends: (string | undefined)[] = [];
  turns = 0;

  constructor(rows: Iterable<ImportedRow>, options: Partial<ImportOptions> = {}) {
    const state = {
      rows,
      smallParts: {},
      contained: { local: 0, red: 0 },
      retainedFrom: { local: 0, red: 0 },
      number: 1,
    };
    const timing = {
      soon: (run: () => void) => this.timeline.schedule(0, run),
      later: (run: () => void) => {
        this.turns += 1;
        this.timeline.schedule(1, run);
      },
      afterMs: (delayMs: number, run: () => void) => this.timeline.schedule(delayMs, run),
    };
    const store = this.disk.open();
    importState(state, { store, tables: TABLES, timing, ...options }, (error) =>
      this.ends.push(error?.message),
    );
  }

  run(): this {
    this.timeline.run(1_000_000);
    return this;
  }

  get hasCut(): boolean {
    return readCut(this.disk.open()) !== undefined;
  }
}

const row = (key: string, fields: object, name = 'notes'): ImportedRow => [
  'rows',
  `${name}\u0000${key}`,
  [fields],
];
const part = (key: string, number: number, saved: unknown, name = 'notes'): ImportedRow => [
  'rows',
  `\u0000${name}\u0000items\u0000${number}\u0000${key}`,
  saved,
];

test('a row of a table that the service does not have ends the import', () => {
  const done = new Import([row('a', { title: ['x'] }, 'others')]).run();
  expect(done.ends).toEqual(["no table 'others': sites run different services"]);
  expect(done.hasCut).toBe(false);
});

test('a row with a field that the service does not have ends the import', () => {
  const done = new Import([row('a', { color: 'x' })]).run();
  expect(done.ends).toEqual(["no field 'notes.color': sites run different services"]);
});

test('a part of a table that the service does not have is left out, as by a restore', () => {
  const done = new Import([part('a', 0, [0, ['x']], 'others')]).run();
  expect([done.ends, done.hasCut]).toEqual([[undefined], true]);
});

test('a queue without one of its parts ends the import before the cut', () => {
  const saved = { from: 0, size: 3 };
  const rows = [row('a', { items: saved }), part('a', 0, [0, ['x', 'y']])];
  const done = new Import(rows).run();
  expect(done.ends).toEqual(['part 2 of \'items\' is missing, which the row "a" names']);
  expect(done.hasCut).toBe(false);
});

test('many rows → many turns, and commits that report how many rows there are', () => {
  const rows = Array.from({ length: 1000 }, (_, at) => row(`${at}`, { title: 'x'.repeat(900) }));
  const progress: number[] = [];
  const done = new Import(rows, {
    batchBytes: 300_000,
    onProgress: (count) => void progress.push(count),
  }).run();
  expect(done.ends).toEqual([undefined]);
  expect(done.turns).toBeGreaterThan(7);
  expect(progress.at(-1)).toBe(1000);
  expect(progress.length).toBeGreaterThan(3);
});
