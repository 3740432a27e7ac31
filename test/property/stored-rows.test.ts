/**
 * A store that has few of its rows in memory, and reads others from its last commit, compared with
 * one that has all of them: through any effects, commits in slices, commits that fail, and crashes.
 */
// @rule STO-40, STO-41, STO-42, STO-43
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { SavedRow, SavedTables } from '../../src/server/service/records/checkpoint.ts';
import type { Effect, Stamp } from '../../src/server/service/records/effect.ts';
import { Store } from '../../src/server/service/state/store.ts';
import { STATE_PARTS } from '../../src/server/service/state/stored-table.ts';
import {
  bounds,
  change,
  createStamp,
  NO_BOUNDS,
  show,
  showRow,
  TABLES,
  toText,
  type Bounds,
  type Change,
  type TableName,
} from '../support/any-rows.ts';
import { scaleRuns } from '../support/lane.ts';
import { onceEach, sharesOf, testShares, unnoted, type Note } from '../support/property-shares.ts';
import { replaceMethods } from '../support/replace-methods.ts';
import { SavedMap } from '../support/saved-map.ts';

const RUNS = Number(process.env['FC_RUNS'] ?? scaleRuns(200));
const step = fc.oneof(
  { weight: 12, arbitrary: fc.record({ change }) },
  { weight: 2, arbitrary: fc.record({ forget: fc.nat(12) }) },
  { weight: 6, arbitrary: fc.record({ take: fc.integer({ min: 1, max: 4 }) }) },
  { weight: 2, arbitrary: fc.record({ commit: fc.constantFrom(true, true, false) }) },
  { weight: 1, arbitrary: fc.constant({ crash: true as const }) },
  { weight: 1, arbitrary: fc.constant({ compare: true as const }) },
);

/** What happened to a site, in order. */
type Input = { readonly effect: Effect; readonly stamp: Stamp } | { readonly forget: number };

function run(store: Store, input: Input): unknown {
  if (!('forget' in input)) return store.apply(input.effect, input.stamp);
  store.forgetRemovals([input.forget, input.forget, input.forget]);
  return undefined;
}

interface Options {
  readonly cacheBytes: number;
  readonly maxChunk: number;
}

/** Compares texts. An assertion would compute what differs at each step of a shrinking. */
function check(shown: string, expected: string): void {
  if (shown !== expected) throw new Error(`shown: ${shown}\nexpected: ${expected}`);
}

/** A store with its last commit, and an ordinary one beside it. */
class Site {
  store: Store;
  saved = new SavedMap();
  readonly plain = new Store(TABLES);
  readonly #options: Options;
  readonly #parts: typeof STATE_PARTS;
  readonly #limits: Bounds;
  /** What happened since the last commit was closed. */
  #inputs: Input[] = [];
  #taken: SavedRow[] | undefined;
  #tables: SavedTables = {};
  /** What was shown when the set was closed, and what happened since. */
  #atClose = '';
  #inputsSince: Input[] = [];
  #time = 0;

  constructor(options: Options, limits: Bounds, parts: typeof STATE_PARTS) {
    this.#options = options;
    this.#limits = limits;
    this.#parts = parts;
    this.store = this.#open(this.saved);
  }

  change(change: Change): void {
    const { effect } = change;
    this.#time += 1;
    this.#run({ effect, stamp: createStamp(change, this.#time) });
    const name = effect.table as TableName;
    const [shown, expected] = [this.store, this.plain].map((store) =>
      toText(showRow(store, name, effect.key)),
    );
    check(shown!, expected!);
  }

  forget(age: number): void {
    this.#run({ forget: this.#time - age });
  }

  take(max: number): boolean {
    if (this.#taken === undefined) {
      this.#atClose = show(this.plain, NO_BOUNDS);
      this.store.closeChanges();
      this.#tables = this.store.savedTables;
      this.#taken = [];
      this.#inputsSince = [];
    }
    const rows = this.store.takeClosed(max);
    if (rows.length > max) throw new Error(`took ${rows.length} rows of ${max}`);
    this.#taken.push(...rows);
    return rows.length > 0;
  }

  /** Takes what is left of the set, and commits it. */
  commit(): void {
    while (this.take(3));
    this.saved = this.saved.after(this.#taken ?? [], this.#tables);
    this.store.onCommitted(this.saved);
    if (this.#inputsSince.length === 0) check(String(this.store.dirtyBytes), '0');
    this.#inputs = this.#inputsSince;
    this.#inputsSince = [];
    this.#taken = undefined;
    check(show(this.#open(this.saved), NO_BOUNDS), this.#atClose);
  }

  fail(): void {
    if (this.#taken === undefined) return;
    this.store.onCommitFailed();
    this.#taken = undefined;
  }

  crash(): void {
    this.#taken = undefined;
    this.store = this.#open(this.saved);
    for (const input of this.#inputs) run(this.store, input);
  }

  compare(): void {
    check(show(this.store, this.#limits), show(this.plain, this.#limits));
  }

  get isSaving(): boolean {
    return this.#taken !== undefined;
  }

  #open(saved: SavedMap): Store {
    const store = new Store(TABLES, this.#parts);
    store.open(saved, this.#options);
    return store;
  }

  #run(input: Input): void {
    this.#inputs.push(input);
    this.#inputsSince.push(input);
    check(toText(run(this.store, input)), toText(run(this.plain, input)));
  }
}

const options = fc.record({
  cacheBytes: fc.constantFrom(0, 2_000, 20_000),
  maxChunk: fc.constantFrom(1, 2, 3, 512),
});

const inAnyOrder = (note: Note, parts = STATE_PARTS): fc.IProperty<unknown> =>
  fc.property(
    options,
    bounds,
    fc.array(change, { minLength: 10, maxLength: 40, size: 'max' }),
    fc.array(step, { maxLength: 80, size: 'max' }),
    (opened, limits, before, steps) => {
      const once = onceEach(note);
      const site = new Site(opened, limits, parts);
      for (const item of before) site.change(item);
      site.commit();
      if (site.saved.names.length > 10) once('many rows are saved');
      for (const item of steps) {
        if ('change' in item) {
          site.change(item.change);
          if (site.isSaving) once('a row changes while others are saved');
        } else if ('forget' in item) site.forget(item.forget);
        else if ('take' in item) site.take(item.take);
        else if ('compare' in item) site.compare();
        else if ('crash' in item) {
          site.crash();
          once('a crash');
        } else if (item.commit) site.commit();
        else {
          if (site.isSaving) once('a commit fails');
          site.fail();
        }
      }
      site.compare();
    },
  );

/** Whether a start without the row is as good: it was removed, or its order has nothing. */
function isNothing(saved: SavedMap, name: string): boolean {
  const row = saved.get(name) as readonly unknown[];
  const isDirectory = name.startsWith('\u0000\u0000') && name.endsWith('\u0000');
  return isDirectory ? (row[1] as readonly unknown[]).length === 0 : row[0] === null;
}

const withLoss = (note: Note, parts = STATE_PARTS): fc.IProperty<unknown> =>
  fc.property(
    options,
    fc.array(change, { minLength: 5, maxLength: 40, size: 'max' }),
    fc.nat(),
    (opened, changes, draw) => {
      const site = new Site(opened, NO_BOUNDS, parts);
      for (const item of changes) site.change(item);
      site.commit();
      const { names } = site.saved;
      const lost = names[draw % names.length]!;
      fc.pre(!isNothing(site.saved, lost));
      note(lost.startsWith('\u0000') ? 'a chunk or a part is lost' : 'a row is lost');
      const store = new Store(TABLES, parts);
      expect(() => {
        store.open(site.saved.without(lost), opened);
        show(store, NO_BOUNDS);
      }).toThrow(/is missing|and the last commit has/);
    },
  );

/** Each leaves out one rule. */
const FAULTS: Readonly<Record<string, Partial<typeof STATE_PARTS>>> = {
  'saved-after-the-cut': {
    RowChanges: replaceMethods(STATE_PARTS.RowChanges, () => ({ isSaving: false })),
  },
  'dropped-before-the-reader': {
    PagedRows: replaceMethods(STATE_PARTS.PagedRows, () => ({ isDirty: () => false })),
  },
  'forgotten-removal': {
    PagedRows: replaceMethods(STATE_PARTS.PagedRows, (original) => ({
      closeChanges: (bytes) => {
        original.closeChanges(bytes);
        original.onCommitted();
      },
    })),
  },
  'index-without-dirty': {
    StoredOrder: replaceMethods(STATE_PARTS.StoredOrder, (original) => ({
      scan: (range, reverse) =>
        [...original.scan(range, reverse)].filter((entry) => original.isSaved(entry)),
    })),
  },
  'both-places': {
    StoredOrder: replaceMethods(STATE_PARTS.StoredOrder, () => ({ delete: () => {} })),
  },
  'failed-is-forgotten': {
    RowChanges: replaceMethods(STATE_PARTS.RowChanges, (original) => ({
      onCommitFailed: () => original.onCommitted(),
    })),
  },
  'forgets-half': {
    StoredOrder: replaceMethods(STATE_PARTS.StoredOrder, (original, { description }) => ({
      delete: (entry) => {
        if (!description.includes('removals')) original.delete(entry);
      },
    })),
  },
};

const UNNOTICING = {
  ...STATE_PARTS,
  StoredOrder: replaceMethods(STATE_PARTS.StoredOrder, () => ({ isSaved: () => false })),
};

/** Takes each order as it finds it. */
class UncheckedOrder extends STATE_PARTS.StoredOrder {
  constructor(unchecked: ConstructorParameters<typeof STATE_PARTS.StoredOrder>[0]) {
    super({ ...unchecked, savedSize: undefined });
  }
}

const isFound = (property: fc.IProperty<unknown>): boolean =>
  fc.check(property, { numRuns: 100, seed: 1, endOnFailure: true }).failed;

describe('rows in a store', () => {
  test('effects, commits in slices, failures and crashes in any order → as if all were in memory', async () => {
    await fc.assert(inAnyOrder(unnoted), { numRuns: RUNS });
  });

  test('any row, part or chunk is missing → a read of all finds it', async () => {
    await fc.assert(withLoss(unnoted), { numRuns: RUNS });
  });

  testShares('what happens → commits, failures and crashes in most runs', async () => {
    const shares = await sharesOf(inAnyOrder, 100);
    for (const description of [
      'many rows are saved',
      'a row changes while others are saved',
      'a commit fails',
      'a crash',
    ])
      expect(shares[description], description).toBeGreaterThan(0.3);
    const losses = await sharesOf(withLoss, 100);
    expect(losses['a row is lost']).toBeGreaterThan(0.1);
    expect(losses['a chunk or a part is lost']).toBeGreaterThan(0.1);
  });

  test.each(Object.entries(FAULTS))('%s → found', (_, fault) => {
    const parts = { ...STATE_PARTS, ...fault };
    expect(isFound(inAnyOrder(unnoted, parts))).toBe(true);
  });

  test('row-missing → found', () => {
    expect(isFound(withLoss(unnoted, UNNOTICING))).toBe(true);
  });

  test('sizes-unchecked → found', () => {
    const parts = { ...STATE_PARTS, StoredOrder: UncheckedOrder };
    expect(isFound(withLoss(unnoted, parts))).toBe(true);
  });
});
