/**
 * What checkpoints take of a section, a few rows at a time between any changes, adds up to all of
 * it as it was at one moment. A second section, which changes alike, is saved at that moment as a
 * whole.
 */
// @rule STO-7
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { SavedRow, Section } from '../../src/server/service/records/checkpoint.ts';
import { RED, type Origin } from '../../src/server/service/records/origin.ts';
import type {
  GlobalOperation,
  RedOperation,
  RedRecord,
} from '../../src/server/service/records/records.ts';
import { Random } from '../../src/server/service/collections/random.ts';
import { getExecutionName } from '../../src/server/site/lane/global-records.ts';
import { HoldTable } from '../../src/server/site/lane/order/hold-table.ts';
import { PartitionCertifier } from '../../src/server/site/lane/order/partition-certifier.ts';
import { DedupSlots, type DedupSlot } from '../../src/server/site/parts/lookups/dedup-slots.ts';
import { IdTable } from '../../src/server/site/parts/lookups/id-table.ts';
import { siteAt } from '../support/origins.ts';
import { onceEach, sharesOf, testShares, unnoted, type Note } from '../support/property-shares.ts';
import { saveAll } from '../support/saved-rows.ts';
import { scaleRuns } from '../support/lane.ts';

const RUNS = Number(process.env['FC_RUNS'] ?? scaleRuns(300));

interface Subject {
  readonly sections: Readonly<Record<string, Section>>;
  /** Changes something. What it is follows from `random`, and from what was done before. */
  change(random: Random): void;
}

const LIMITS = { maxOperations: 12, maxOperationsPerClient: 5, maxClients: 4 };
const CLIENTS = ['p/a', 'p/b', 'c', 'd', 'e'] as const;
const createId = (random: Random): string => `${random.pick(CLIENTS)}/${random.between(1, 9)}`;

function createIdTable(): Subject {
  const table = new IdTable<number>(LIMITS);
  return {
    sections: table.sections('ids'),
    change: (random) => {
      if (random.chance(0.2)) table.expire(random.pick(CLIENTS), random.between(1, 9));
      else table.set(createId(random), random.between(1, 100));
    },
  };
}

function createSlots(): Subject {
  const slots = new DedupSlots(LIMITS);
  const open: [id: string, slot: DedupSlot][] = [];
  return {
    sections: slots.sections,
    change: (random) => {
      const id = createId(random);
      const hop = random.between(0, 2);
      const first = random.chance(0.4) ? open.shift() : undefined;
      if (first !== undefined) slots.finalize(...first);
      else if (random.chance(0.1)) slots.expire(random.pick(CLIENTS), random.between(1, 9));
      else if (slots.find(id, hop) === undefined)
        open.push([id, slots.decide(id, hop, { kind: 'claim', site: siteAt(1), hop })]);
    },
  };
}

const SITE = 1 as Origin;

function createOperation(random: Random): RedOperation {
  const key = random.pick(['a', 'b', 'us/c']);
  return {
    kind: 'operation',
    id: createId(random),
    site: SITE,
    attempt: random.between(1, 2),
    epoch: 1,
    snapshot: [1_000],
    operation: 'change',
    reads: [],
    clock: 1,
    effects: [{ table: 'rows', key, field: 'value', action: 'assign', value: 1 }],
    reply: { value: null },
  };
}

function createCertifier(): Subject {
  const partitions = { ofRow: (_: string, key: string) => (key.startsWith('us/') ? 1 : 0) };
  const limits = { maxWindowCommits: 6, maxOutcomes: LIMITS };
  const certifier = new PartitionCertifier(limits, RED, new HoldTable(partitions, 0));
  return {
    sections: certifier.sections,
    change: (random) => {
      const operation = createOperation(random);
      const { id, site } = operation;
      const item: GlobalOperation = { ...operation, partition: 1, others: [0] };
      const execution = getExecutionName(item);
      const [standing = execution] = certifier.holds.standing.keys();
      certifier.decide(
        random.pick<RedRecord>([
          operation,
          { kind: 'hold', id, site, operation: item },
          { kind: 'release', id, site, execution: standing, home: 1 },
          { kind: 'abort', id, site, execution },
        ]),
      );
    },
  };
}

const SUBJECTS = {
  'a table of identifiers': createIdTable,
  slots: createSlots,
  'a certifier and its holds': createCertifier,
};

/** A checkpoint of a section that is taken in slices. */
class Checkpoint {
  /** All rows as they are when it begins, of the twin. */
  readonly expected: ReadonlyMap<string, unknown>;
  readonly #section: Section;
  readonly #taken: SavedRow[] = [];

  constructor(section: Section, twin: Section) {
    this.#section = section;
    section.closeChanges();
    this.expected = createRows(saveAll(twin));
  }

  /** Returns how many rows it has taken. */
  take(max: number): number {
    const rows = this.#section.takeClosed(max);
    this.#taken.push(...rows);
    return rows.length;
  }

  /** Returns all rows, those of the checkpoint over those of the one before. */
  addTo(before: ReadonlyMap<string, unknown>): Map<string, unknown> {
    return createRows([...before, ...this.#taken]);
  }
}

/** Later rows replace earlier ones. They may be written later than they are taken. */
function createRows(rows: readonly SavedRow[]): Map<string, unknown> {
  const all = new Map<string, unknown>();
  for (const [name, saved] of rows) {
    if (saved === undefined) all.delete(name);
    else all.set(name, structuredClone(saved));
  }
  return all;
}

const step = fc.oneof(
  { weight: 6, arbitrary: fc.record({ change: fc.nat() }) },
  { weight: 3, arbitrary: fc.record({ take: fc.integer({ min: 1, max: 4 }) }) },
  { weight: 1, arbitrary: fc.constant('fail' as const) },
);

const takenInSlices = (create: () => Subject, note: Note): fc.IRawProperty<unknown> =>
  fc.property(fc.array(step, { minLength: 20, maxLength: 120, size: 'max' }), (steps) => {
    const once = onceEach(note);
    const [subject, twin] = [create(), create()];
    const names = Object.keys(subject.sections);
    let saved: readonly ReadonlyMap<string, unknown>[] | undefined;
    let open: readonly Checkpoint[] | undefined;
    let isChanged = false;
    const begin = (): readonly Checkpoint[] => {
      isChanged = false;
      return names.map((name) => new Checkpoint(subject.sections[name]!, twin.sections[name]!));
    };
    const fail = (): void => {
      if (open !== undefined) once('a checkpoint fails');
      for (const section of Object.values(subject.sections)) section.changeAll();
      saved = open = undefined;
    };
    /** Returns whether that has ended a checkpoint. */
    const take = (max: number): boolean => {
      const checkpoints = open ?? begin();
      open = checkpoints;
      const counts = checkpoints.map((checkpoint) => checkpoint.take(max));
      expect(Math.max(...counts)).toBeLessThanOrEqual(max);
      if (counts.some((count) => count > 0)) return false;
      if (isChanged)
        once(saved === undefined ? 'it changes while all is taken' : 'it changes meanwhile');
      saved = checkpoints.map((checkpoint, index) => checkpoint.addTo(saved?.[index] ?? new Map()));
      expect(saved).toEqual(checkpoints.map(({ expected }) => expected));
      open = undefined;
      return true;
    };
    for (const item of steps) {
      if (item === 'fail') fail();
      else if ('take' in item) take(item.take);
      else {
        for (const part of [subject, twin]) part.change(new Random(item.change));
        isChanged = true;
      }
    }
    while (!take(1));
  });

describe.each(Object.entries(SUBJECTS))('%s', (_, create) => {
  test('any changes between slices of any size → all of it as it was when it was closed', async () => {
    await fc.assert(takenInSlices(create, unnoted), { numRuns: RUNS });
  });

  testShares('what slices meet → changes, and checkpoints that fail, in most runs', async () => {
    const shares = await sharesOf((note) => takenInSlices(create, note), 200);
    for (const description of [
      'a checkpoint fails',
      'it changes while all is taken',
      'it changes meanwhile',
    ])
      expect(shares[description], description).toBeGreaterThan(0.4);
  });
});
