/**
 * A state that is imported into an empty store of rows, compared with the same rows restored into
 * memory: with commits of any size, on full disks, and through crashes at any moment.
 */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { Random } from '../../src/server/service/collections/random.ts';
import { Store } from '../../src/server/service/state/store.ts';
import { decodeValue, encodeValue } from '../../src/server/node/storage/format/value-text.ts';
import {
  importState,
  ImportWrites,
  type ImportedRow,
  type ImportedState,
} from '../../src/server/node/storage/rows/import-state.ts';
import { checkRows } from '../../src/server/node/storage/rows/check-rows.ts';
import type { RowStore } from '../../src/server/node/storage/rows/row-store.ts';
import {
  createCutEntry,
  getStoredSection,
  readCut,
  readSection,
  readSmallParts,
  type SavedCut,
} from '../../src/server/node/storage/rows/saved-state.ts';
import { SimulatedRowDisk } from '../../src/testing/simulator/disk/simulated-row-disk.ts';
import { Timeline } from '../../src/testing/simulator/timeline.ts';
import {
  change,
  createStamp,
  NO_BOUNDS,
  show,
  TABLES,
  toText,
  type Change,
} from '../support/any-rows.ts';
import { scaleRuns } from '../support/lane.ts';
import { onceEach, sharesOf, testShares, unnoted, type Note } from '../support/property-shares.ts';
import { replaceMethods } from '../support/replace-methods.ts';
import { saveAll } from '../support/saved-rows.ts';

const RUNS = Number(process.env['FC_RUNS'] ?? scaleRuns(100));
/** Far beyond the time of any import here. */
const LONG_MS = 1_000_000;

const sizes = fc.record({
  batchBytes: fc.constantFrom(1, 2_000, 2 ** 24),
  orderBytes: fc.constantFrom(1, 1_000, 2 ** 26),
  maxChunk: fc.constantFrom(1, 2, 3, 512),
  maxTurnCharacters: fc.constantFrom(1, 500, 2 ** 17),
});
type Sizes = typeof sizes extends fc.Arbitrary<infer T> ? T : never;

const changes = fc.array(change, { maxLength: 60, size: 'max' });
const listedRows = fc.array(fc.tuple(fc.constantFrom('slots', 'own.ids'), fc.nat(40)), {
  maxLength: 20,
  size: 'max',
});
/** What happens while the state is imported, and when. */
const trouble = fc.oneof(
  { weight: 2, arbitrary: fc.constant(undefined) },
  {
    weight: 1,
    arbitrary: fc.record({
      isCrash: fc.boolean(),
      afterMs: fc.double({ min: 0, max: 200, noNaN: true }),
    }),
  },
);

/** Runs what a site does with its state. Each step gives a text. */
class Rows {
  readonly store: Store;
  #time: number;

  constructor(store: Store, time = 0) {
    this.store = store;
    this.#time = time;
  }

  run(item: Change): string {
    this.#time += 1;
    const result = this.store.apply(item.effect, createStamp(item, this.#time));
    return toText([result, show(this.store, NO_BOUNDS)]);
  }
}

function createState(
  applied: readonly Change[],
  listed: readonly (readonly [string, number])[],
  random: Random,
): ImportedState {
  const store = new Store(TABLES);
  const rows = new Rows(store);
  for (const item of applied) rows.run(item);
  const all: ImportedRow[] = saveAll(store).map(([name, value]) => ['rows', name, value]);
  for (const [section, name] of new Map(listed.map((item) => [item.join(), item])).values())
    all.push([section, `name ${name}`, { name }]);
  return {
    // As they come from a file, and in any order.
    rows: shuffle(all, random).map((row) => decodeValue(encodeValue(row)) as ImportedRow),
    smallParts: { count: applied.length },
    contained: { local: applied.length, red: 3 },
    retainedFrom: { local: 1, red: 2 },
    number: 7,
  };
}

function shuffle<T>(items: readonly T[], random: Random): T[] {
  const keyed = items.map((item) => [random.between(0, 2 ** 30), item] as const);
  return keyed.toSorted(([a], [b]) => a - b).map(([, item]) => item);
}

/** Restores all into memory, as the version before did. */
function restore(state: ImportedState): Store {
  const store = new Store(TABLES);
  const rows = [...state.rows].filter(([section]) => section === 'rows');
  store.restore(new Map(rows.map(([, name, value]) => [name, decodeValue(encodeValue(value))])));
  return store;
}

function open(reader: RowStore, { maxChunk }: Sizes): Store {
  const store = new Store(TABLES);
  const saved = getStoredSection(reader.openSnapshot(), readCut(reader) as SavedCut);
  store.open(saved, { cacheBytes: 2_000, maxChunk });
  return store;
}

/** Runs the check of `inspect --deep`. */
function checkWhole(reader: RowStore): void {
  const steps = checkRows({ cut: readCut(reader) as SavedCut, reader }, { tables: TABLES });
  let step = steps.next();
  while (step.done !== true) step = steps.next();
  expect(step.value.problems).toEqual([]);
}

function checkListed(reader: RowStore, state: ImportedState): void {
  const sections = new Map<string, Map<string, unknown>>();
  for (const [section, name, value] of state.rows) {
    if (section === 'rows') continue;
    sections.set(section, (sections.get(section) ?? new Map()).set(name, value));
  }
  const cut = readCut(reader) as SavedCut;
  const counts = [...sections].map(([section, rows]) => [section, rows.size]);
  expect(cut.listed).toEqual(Object.fromEntries(counts));
  for (const [section, rows] of sections) expect(readSection(reader, section, cut)).toEqual(rows);
  const { number, contained, retainedFrom } = state;
  expect(cut).toMatchObject({ number, contained, retainedFrom });
  expect(readSmallParts(reader)).toEqual(state.smallParts);
}

const imports = (note: Note, Writes = ImportWrites): fc.IProperty<unknown> =>
  fc.property(
    changes,
    listedRows,
    changes,
    sizes,
    trouble,
    fc.nat(),
    (before, listed, after, given, problem, seed) => {
      const once = onceEach(note);
      const random = new Random(seed);
      const state = createState(before, listed, random);
      const timeline = new Timeline();
      const disk = new SimulatedRowDisk({ timeline, random, syncMeanMs: 5 });
      const timing = {
        soon: (run: () => void) => timeline.schedule(0, run),
        later: (run: () => void) => timeline.schedule(1, run),
        afterMs: (delayMs: number, run: () => void) => timeline.schedule(delayMs, run),
      };
      const ends: (Error | undefined)[] = [];
      const options = { ...given, store: disk.open(), tables: TABLES, timing };
      importState(state, options, (error) => ends.push(error), Writes);
      if (problem !== undefined) {
        timeline.run(problem.afterMs);
        const isDone = ends.length > 0;
        if (problem.isCrash) disk.crash();
        else disk.isFull = true;
        timeline.run(LONG_MS);
        disk.crash();
        const hasCut = readCut(disk.open()) !== undefined;
        if (isDone && !hasCut) throw new Error('the import was done, and there is no cut');
        if (!hasCut) {
          once(problem.isCrash ? 'a crash before the cut' : 'a full disk');
          if (!problem.isCrash) expect(ends).toMatchObject([{ code: 'ENOSPC' }]);
          return;
        }
      } else {
        timeline.run(LONG_MS);
        expect(ends).toEqual([undefined]);
      }
      once('a whole import');
      const reader = disk.open();
      checkListed(reader, state);
      checkWhole(reader);
      const imported = open(reader, given);
      const restored = restore(state);
      if (show(restored, NO_BOUNDS).includes('a long text')) once('long queues');
      const [a, b] = [imported, restored].map((store) => new Rows(store, before.length));
      expect(show(imported, NO_BOUNDS)).toBe(show(restored, NO_BOUNDS));
      expect(imported.removalCount).toBe(restored.removalCount);
      for (const item of after) expect(a!.run(item)).toBe(b!.run(item));
    },
  );

/** Each leaves out one rule. */
const FAULTS: Readonly<Record<string, typeof ImportWrites>> = {
  'cut-first': replaceMethods(ImportWrites, (original) => ({
    createBatch: () => {
      const batch = original.createBatch();
      batch.put(...createCutEntry(original.cut));
      return batch;
    },
  })),
  'orders-without-the-last-rows': replaceMethods(ImportWrites, (original) => ({
    flush: (options = {}) => original.flush({ ...options, isLast: false }),
    check: function* check() {},
  })),
};

const isFound = (property: fc.IProperty<unknown>): boolean =>
  fc.check(property, { numRuns: 200, seed: 1, endOnFailure: true }).failed;

describe('an imported state', () => {
  test('is what a restore of the same rows has, and counts once its cut is there (ROW-11)', () => {
    fc.assert(imports(unnoted), { numRuns: RUNS });
  });

  testShares('is imported as a whole, and not, in many runs', async () => {
    const shares = await sharesOf(imports, 100);
    for (const description of ['a whole import', 'long queues'])
      expect(shares[description], description).toBeGreaterThan(0.3);
    for (const description of ['a crash before the cut', 'a full disk'])
      expect(shares[description], description).toBeGreaterThan(0.03);
  });

  test.each(Object.entries(FAULTS))('%s → found', (_, fault) => {
    expect(isFound(imports(unnoted, fault))).toBe(true);
  });
});
