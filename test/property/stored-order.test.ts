/** An order in a store, compared with sorted entries in memory, through commits that may fail. */
// @rule STO-41
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { SavedRows } from '../../src/server/service/records/checkpoint.ts';
import {
  compareEntries,
  type Entry,
  type ReadRange,
} from '../../src/server/service/records/read-range.ts';
import { ResidentCache } from '../../src/server/service/state/resident-cache.ts';
import { SortedEntries } from '../../src/server/service/state/sorted-entries.ts';
import { StoredOrder } from '../../src/server/service/state/stored-order.ts';
import { scaleRuns } from '../support/lane.ts';

const RUNS = Number(process.env['FC_RUNS'] ?? scaleRuns(300));
/** Code units of pairs and halves of pairs, zeros, and what UTF-8 puts in another order. */
const TEXTS = ['', '\u0000', 'a', 'a\u0000', 'aa', '\ud800', '\udc00', '\ud800\udc00', '\uffff'];

const key = fc.constantFrom(...TEXTS);
const value = fc.oneof(key, fc.constantFrom(-1e300, -1, -0, 0, 0.5, 2));
const step = fc.oneof(
  { weight: 8, arbitrary: fc.record({ value, key }) },
  { weight: 2, arbitrary: fc.constantFrom('close' as const, 'fail' as const, 'commit' as const) },
);
const bound = fc.option(value, { nil: undefined });
const bounds = fc.record({ from: bound, before: bound, upTo: bound });

/** The chunks of one commit as texts, as on a disk. */
class Chunks implements SavedRows {
  readonly texts: ReadonlyMap<string, string>;

  constructor(texts: ReadonlyMap<string, string> = new Map()) {
    this.texts = texts;
  }

  get(name: string): unknown {
    const text = this.texts.get(name);
    return text === undefined ? undefined : JSON.parse(text);
  }

  reportDamage(problem: string): never {
    throw new Error(problem);
  }
}

class Disk {
  chunks = new Chunks();
  #isClosed = false;

  close(order: StoredOrder): void {
    if (!this.#isClosed) order.closeChanges();
    this.#isClosed = true;
  }

  fail(order: StoredOrder): void {
    this.close(order);
    order.takeClosed(2);
    order.onCommitFailed();
    this.#isClosed = false;
  }

  /** @param maxChunk no chunk may have more entries */
  commit(order: StoredOrder, maxChunk: number): void {
    this.close(order);
    const texts = new Map(this.chunks.texts);
    for (let rows = order.takeClosed(1); rows.length > 0; rows = order.takeClosed(1)) {
      for (const [name, saved] of rows) {
        if (saved === undefined) texts.delete(name);
        else texts.set(name, JSON.stringify(saved));
        const { length } = (saved ?? []) as readonly unknown[];
        if (name !== '' && length > maxChunk) throw new Error(`a chunk of ${length} entries`);
      }
    }
    this.chunks = new Chunks(texts);
    order.onCommitted(this.chunks);
    this.#isClosed = false;
  }
}

/** Whether two lists have entries of the same places: -0 is 0. */
function checkEntries(found: Iterable<Entry>, expected: Iterable<Entry>): void {
  const [left, right] = [[...found], [...expected]];
  const isEqual =
    left.length === right.length &&
    left.every((entry, at) => compareEntries(entry, right[at] as Entry) === 0);
  if (!isEqual) expect(left).toEqual(right);
}

test('entries come and go, commits succeed and fail → the same as sorted entries in memory', async () => {
  const options = fc.record({ maxChunk: fc.integer({ min: 1, max: 4 }), cache: fc.nat(400) });
  await fc.assert(
    fc.property(
      options,
      bounds,
      fc.array(step, { maxLength: 120, size: 'max' }),
      ({ maxChunk, cache }, { from, before, upTo }, steps) => {
        const range: ReadRange = {
          table: '',
          ...(from !== undefined && { from }),
          ...(before !== undefined && { before }),
          ...(upTo !== undefined && { upTo }),
        };
        const disk = new Disk();
        const open = (): StoredOrder =>
          new StoredOrder({
            description: 'test',
            saved: disk.chunks,
            cache: new ResidentCache(cache),
            maxChunk,
          });
        const order = open();
        const expected = new SortedEntries();
        for (const item of steps) {
          if (item === 'close') disk.close(order);
          else if (item === 'fail') disk.fail(order);
          else if (item === 'commit') {
            disk.commit(order, maxChunk);
            // A change after the set was closed is in the next one.
            for (const entry of open().scan({ table: '' })) expect(order.isSaved(entry)).toBe(true);
          } else if (expected.add(item)) order.add(item);
          else {
            expected.delete(item);
            order.delete(item);
          }
          expect(order.size).toBe(expected.size);
          for (const reverse of [false, true])
            checkEntries(order.scan(range, reverse), expected.scan(range, reverse));
        }
        disk.commit(order, maxChunk);
        disk.commit(order, maxChunk);
        expect(order.dirtyBytes).toBe(0);
        checkEntries(open().scan({ table: '' }), expected.scan({ table: '' }));
        // Nothing is left of chunks that are empty.
        expect(disk.chunks.texts.size).toBeLessThanOrEqual(1 + expected.size);
      },
    ),
    { numRuns: RUNS },
  );
});

test('many entries at once → chunks of even length, a few rows at a time', () => {
  const order = new StoredOrder({
    description: 'test',
    saved: new Chunks(),
    cache: new ResidentCache(0),
    maxChunk: 10,
  });
  for (let value = 0; value < 1_001; value += 1) order.add({ value, key: 'a' });
  order.closeChanges();
  const lengths: number[] = [];
  for (let rows = order.takeClosed(1); rows.length > 0; rows = order.takeClosed(1))
    for (const [, saved] of rows) lengths.push((saved as readonly unknown[]).length);
  const [directory] = lengths.splice(-1);
  expect(directory).toBe(2);
  expect(lengths).toHaveLength(101);
  expect(Math.min(...lengths)).toBeGreaterThanOrEqual(9);
});
