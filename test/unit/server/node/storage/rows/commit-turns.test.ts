/** How a commit is cut into turns that a site can bear between two operations. */
// @rule STO-20
import { expect, test } from 'vitest';
import type { StorageSizes } from '../../../../../../src/server/node/storage/storage-sizes.ts';
import { DEFAULT_STORAGE_SIZES } from '../../../../../../src/server/node/storage/storage-sizes.ts';
import { RowCommits } from '../../../../../../src/server/node/storage/rows/row-commits.ts';
import { NO_ROWS } from '../../../../../../src/server/node/storage/rows/saved-state.ts';
import type { Stamp } from '../../../../../../src/server/service/records/effect.ts';
import { Store } from '../../../../../../src/server/service/state/store.ts';
import { register, table } from '../../../../../../src/server/service/tables.ts';
import type { BatchChanges } from '../../../../../row-stores/commit.ts';
import { siteAt } from '../../../../../support/origins.ts';

const TEXT = 'x'.repeat(10_000);
const TURN_CHARACTERS = DEFAULT_STORAGE_SIZES.maxTurnCharacters;

/** A site of large rows, of which all are committed turn by turn. */
class LargeSite {
  readonly store = new Store({
    marks: table({ text: register<string>() }),
    notes: table({ text: register<string>() }),
  });
  readonly exceeded: (keyof StorageSizes)[] = [];
  #version = 0;

  constructor() {
    this.store.open(NO_ROWS);
  }

  write(name: 'marks' | 'notes', key: number, value: string): void {
    this.#version += 1;
    const [time, site] = [this.#version, siteAt(0)];
    const stamp: Stamp = { time, site, entry: site, version: time, seen: [0, time] };
    this.store.apply(
      { table: name, key: String(key), field: 'text', action: 'write', value },
      stamp,
    );
  }

  /** Commits all rows. `between` is called after each turn. */
  commit(between: (turn: number) => void): {
    readonly turns: number;
    readonly puts: BatchChanges['puts'];
  } {
    let next: (() => void) | undefined;
    const puts: BatchChanges['puts'][number][] = [];
    const snapshot = { get: () => undefined, close: () => {} };
    const later = (run: () => void): void => void (next = run);
    const commits = new RowCommits({
      store: {
        ...snapshot,
        createBatch: () => ({
          put: (key, value) => void puts.push([key, value]),
          remove: () => {},
          commit: (done) => done(undefined),
          discard: () => {},
        }),
        openSnapshot: () => snapshot,
        close: () => Promise.resolve(),
      },
      snapshot,
      timing: { soon: later, later, afterMs: (_delayMs, run) => later(run) },
      source: {
        sections: { rows: this.store },
        createCut: () => ({ smallParts: null, contained: { local: 0, red: 0 } }),
        retainedFrom: { local: 0, red: 0 },
      },
      number: 0,
      onDone: () => {},
      onFailed: (error) => {
        throw error;
      },
      onBroken: () => {},
    });
    commits.start();
    let turns = 1;
    for (; commits.isRunning; turns += 1) {
      between(turns);
      const run = next as () => void;
      next = undefined;
      run();
    }
    return { turns, puts };
  }
}

/** Returns the number of turns of a commit of `count` rows, of which some change meanwhile. */
function countTurns(count: number, change: (turn: number) => readonly number[]): number {
  const site = new LargeSite();
  for (let key = 0; key < count; key += 1) site.write('notes', key, TEXT);
  return site.commit((turn) => {
    for (const key of change(turn)) site.write('notes', key, TEXT);
  }).turns;
}

test('a large state of which a little changes meanwhile → turns of about 128 KiB to its end', () => {
  const turns = countTurns(1_000, (turn) => [turn, turn + 1, turn + 2]);
  const expected = (1_000 * TEXT.length) / TURN_CHARACTERS;
  expect(turns).toBeGreaterThan(expected / 1.3);
  expect(turns).toBeLessThan(expected * 1.3);
});

test('rows that change faster than they are taken → as many turns as of a state that rests', () => {
  const turns = countTurns(1_000, (turn) =>
    Array.from({ length: 400 }, (_, n) => (400 * turn + n) % 1_000),
  );
  expect(turns).toBe(countTurns(1_000, () => []));
});

test('rows that change while they wait for their turn → committed once, as they were', () => {
  const site = new LargeSite();
  for (let key = 0; key < 600; key += 1) site.write('marks', key, 'x');
  for (let key = 0; key < 150; key += 1) site.write('notes', key, TEXT);
  const { puts } = site.commit((turn) => {
    if (turn === 1) for (let key = 0; key < 150; key += 1) site.write('notes', key, 'new');
  });
  const texts = puts.map(([, value]) => Buffer.from(value).toString('latin1'));
  expect(texts.filter((text) => text.includes(TEXT))).toHaveLength(150);
  expect(texts.filter((text) => text.includes('new'))).toEqual([]);
  expect(new Set(puts.map(([key]) => Buffer.from(key).toString('hex'))).size).toBe(puts.length);
});
