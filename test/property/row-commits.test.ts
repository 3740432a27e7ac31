/**
 * Commits of a site's sections to a store of rows, compared with the operations that they contain:
 * through slices, full disks, and crashes at any moment.
 */
// oxlint-disable vitest/no-standalone-expect -- The class below is used by tests alone.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { RowChanges, type Section } from '../../src/server/service/records/checkpoint.ts';
import {
  createRemoveEffect,
  type Effect,
  type Stamp,
} from '../../src/server/service/records/effect.ts';
import { Random } from '../../src/server/service/collections/random.ts';
import { register, table } from '../../src/server/service/tables.ts';
import { Store } from '../../src/server/service/state/store.ts';
import type { RowStore } from '../../src/server/node/storage/rows/row-store.ts';
import { DEFAULT_STORAGE_SIZES } from '../../src/server/node/storage/storage-sizes.ts';
import { RowCommits } from '../../src/server/node/storage/rows/row-commits.ts';
import {
  getStoredSection,
  NO_ROWS,
  readCut,
  readSection,
  readSmallParts,
} from '../../src/server/node/storage/rows/saved-state.ts';
import { SimulatedRowDisk } from '../../src/testing/simulator/disk/simulated-row-disk.ts';
import { Timeline } from '../../src/testing/simulator/timeline.ts';
import { scaleRuns } from '../support/lane.ts';
import { siteAt } from '../support/origins.ts';

const RUNS = Number(process.env['FC_RUNS'] ?? scaleRuns(300));
const TABLES = {
  notes: table({ title: register<string>() }, { indexes: ['title'], removable: true }),
};
const KEYS = ['', '\u0000', 'a', 'a\u0000', 'aa', '\ud800\udc00', '\uffff', 'z'];

const key = fc.constantFrom(...KEYS);
const value = fc.option(fc.nat(9).map(String), { nil: undefined });
/** A change of both sections. Without a value, the row is removed. */
const change = fc.record({ isListed: fc.boolean(), key, value });
const step = fc.oneof(
  { weight: 10, arbitrary: fc.record({ change }) },
  { weight: 4, arbitrary: fc.record({ passMs: fc.nat(12) }) },
  { weight: 3, arbitrary: fc.constant({ commit: true as const }) },
  { weight: 1, arbitrary: fc.constant({ crash: true as const }) },
  { weight: 1, arbitrary: fc.constant({ failedCommit: true as const }) },
);

interface Change {
  readonly isListed: boolean;
  readonly key: string;
  readonly value: string | undefined;
}

/** A section that has all its rows in memory. */
class ListedRows implements Section {
  readonly rows = new Map<string, string>();
  readonly #changes = new RowChanges<string>({
    listKeys: () => this.rows.keys(),
    save: (name) => this.rows.get(name),
  });

  apply({ key: name, value: written }: Change): void {
    this.#changes.note(name);
    if (written === undefined) this.rows.delete(name);
    else this.rows.set(name, written);
  }

  changeAll(): void {
    this.#changes.changeAll();
  }

  closeChanges(): void {
    this.#changes.closeChanges();
  }

  takeClosed(max: number): (readonly [string, unknown])[] {
    return this.#changes.takeClosed(max);
  }

  restore(rows: Map<string, unknown>): void {
    for (const [name, saved] of rows) this.rows.set(name, saved as string);
  }
}

/** The sections of a site, after some changes. */
class State {
  readonly listed = new ListedRows();
  readonly stored = new Store(TABLES);
  /** The number of changes. */
  count = 0;

  apply(applied: Change): void {
    this.count += 1;
    if (applied.isListed) this.listed.apply(applied);
    else this.stored.apply(toEffect(applied), createStamp(this.count));
  }

  describe(): unknown {
    return {
      listed: [...this.listed.rows].toSorted(([a], [b]) => (a < b ? -1 : 1)),
      stored: this.stored.snapshot(),
      removals: this.stored.getRemovalTimes(),
      byTitle: [...this.stored.scan({ table: 'notes', field: 'title' }, false)],
    };
  }
}

class CommittedSite {
  readonly #timeline = new Timeline();
  readonly #disk = new SimulatedRowDisk({
    timeline: this.#timeline,
    random: new Random(1),
    syncMeanMs: 5,
  });
  readonly #changes: Change[] = [];
  #store: RowStore = this.#disk.open();
  #state = new State();
  #commits: RowCommits;
  /** How many changes the last reported commit contains. */
  #contained = 0;
  /** The runs of this start's commits that are not over. */
  #starts = 0;

  constructor() {
    this.#commits = this.#open();
  }

  change(applied: Change): void {
    this.#changes.push(applied);
    this.#state.apply(applied);
  }

  commit(): void {
    this.#commits.start();
  }

  pass(ms: number): void {
    this.#timeline.run(this.#timeline.nowMs + ms);
  }

  /** The disk is full until the commit has ended. */
  failCommit(): void {
    this.#disk.isFull = true;
    this.#commits.start();
    this.pass(100);
    this.#disk.isFull = false;
  }

  crash(): void {
    this.#commits.close();
    this.#disk.crash();
    this.#store = this.#disk.open();
    this.#state = new State();
    this.#commits = this.#open();
  }

  check(): void {
    const expected = new State();
    for (const applied of this.#changes) expected.apply(applied);
    expect(this.#state.describe()).toEqual(expected.describe());
  }

  /** Starts on what the store has, and applies the changes that it does not contain. */
  #open(): RowCommits {
    const start = ++this.#starts;
    const cut = readCut(this.#store);
    const { local } = cut?.contained ?? { local: 0 };
    expect(local).toBeGreaterThanOrEqual(this.#contained);
    const state = this.#state;
    const snapshot = this.#store.openSnapshot();
    const rows = cut === undefined ? NO_ROWS : getStoredSection(snapshot, cut);
    state.stored.open(rows, { cacheBytes: 300 });
    if (cut !== undefined) {
      expect(readSmallParts(this.#store)).toEqual({ count: local });
      state.listed.restore(readSection(this.#store, 'listed', cut));
    }
    state.count = local;
    const before = new State();
    for (const applied of this.#changes.slice(0, local)) before.apply(applied);
    expect(state.describe()).toEqual(before.describe());
    for (const applied of this.#changes.slice(local)) state.apply(applied);
    return new RowCommits({
      store: this.#store,
      snapshot,
      timing: {
        soon: (run) => this.#timeline.schedule(0, run),
        later: (run) => this.#timeline.schedule(1, run),
        afterMs: (delayMs, run) => this.#timeline.schedule(delayMs, run),
      },
      source: {
        sections: { rows: state.stored, listed: state.listed },
        createCut: () => ({
          smallParts: { count: state.count },
          contained: { local: state.count, red: 0 },
        }),
        retainedFrom: { local: 0, red: 0 },
      },
      sizes: { ...DEFAULT_STORAGE_SIZES, maxTurnCharacters: 20 },
      number: cut?.number ?? 0,
      onDone: ({ contained }) => {
        expect(start).toBe(this.#starts);
        this.#contained = contained.local;
      },
      onFailed: () => {},
      onBroken: () => {},
    });
  }
}

function toEffect({ key: row, value: written }: Change): Effect {
  if (written === undefined) return createRemoveEffect('notes', row);
  return { table: 'notes', key: row, field: 'title', action: 'write', value: written };
}

function createStamp(count: number): Stamp {
  const site = siteAt(0);
  return { time: count, site, entry: site, version: count, vector: [0, count] } as unknown as Stamp;
}

test('a store of rows has what its last commit contains, whatever happens', () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      const site = new CommittedSite();
      for (const item of steps) {
        if ('change' in item) site.change(item.change);
        else if ('passMs' in item) site.pass(item.passMs);
        else if ('failedCommit' in item) site.failCommit();
        else if ('commit' in item) site.commit();
        else site.crash();
      }
      site.check();
      site.crash();
      site.check();
    }),
    { numRuns: RUNS },
  );
});
