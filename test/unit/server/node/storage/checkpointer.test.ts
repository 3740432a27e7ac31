/** How a state is cut into slices that a site can bear between two operations. */
// @rule STO-20
import { expect, test } from 'vitest';
import type { Section } from '../../../../../src/server/service/records/checkpoint.ts';
import type { Stamp } from '../../../../../src/server/service/records/effect.ts';
import { Store } from '../../../../../src/server/service/state/store.ts';
import { register, table } from '../../../../../src/server/service/tables.ts';
import { CheckpointSlices } from '../../../../../src/server/node/storage/checkpointer.ts';
import { siteAt } from '../../../../support/origins.ts';

const TEXT = 'x'.repeat(10_000);
const KIB = 1024;
const MAX_TURN = 1.3 * 128 * KIB;

/**
 * A state of `count` rows. The rows that `changing` returns change between two slices. Returns the
 * sizes of the slices.
 */
function slicesOf(count: number, changing: (slice: number) => readonly number[]): number[] {
  const store = new Store({ notes: table({ text: register<string>() }) });
  let version = 0;
  const write = (key: number): void => {
    version += 1;
    const stamp: Stamp = {
      time: version,
      site: siteAt(0),
      entry: siteAt(0),
      version,
      seen: [0, version],
    };
    store.apply(
      { table: 'notes', key: String(key), field: 'text', action: 'write', value: TEXT },
      stamp,
    );
  };
  for (let key = 0; key < count; key += 1) write(key);
  store.closeChanges();
  const sections: Record<string, Section> = { rows: store };
  const slices = new CheckpointSlices({ sections } as never);
  const sizes: number[] = [];
  for (let isLast = false; !isLast && sizes.length < 1_000;) {
    const slice = slices.take();
    isLast = slice.isLast;
    sizes.push(slice.rows.reduce((sum, row) => sum + row.length, 0));
    for (const key of changing(sizes.length)) write(key);
  }
  return sizes;
}

test('a large state of which a little changes meanwhile → slices of about 128 KiB to its end', () => {
  const sizes = slicesOf(1_000, (slice) => [slice, slice + 1, slice + 2]);
  expect(sizes.length).toBeGreaterThan(64);
  expect(Math.max(...sizes)).toBeLessThan(MAX_TURN);
});

test('rows that change faster than they are taken → as many slices as of a state that rests', () => {
  const sizes = slicesOf(1_000, (slice) =>
    Array.from({ length: 400 }, (_, n) => (400 * slice + n) % 1_000),
  );
  expect(sizes.length).toBeLessThan(2 * slicesOf(1_000, () => []).length);
  expect(Math.max(...sizes)).toBeLessThan(MAX_TURN);
});

test('a large state → as many frames as it has megabytes', () => {
  const rows = Array.from({ length: 1_000 }, (_, n) => [String(n), TEXT] as const);
  const section = { takeClosed: (max: number) => rows.splice(0, max) };
  const slices = new CheckpointSlices({ sections: { rows: section } } as never);
  let full = 0;
  for (let isLast = false; !isLast;) {
    const slice = slices.take();
    isLast = slice.isLast;
    if (slice.isFull) full += 1;
  }
  expect(full).toBe(Math.floor((1_000 * TEXT.length) / (KIB * KIB)));
});

/**
 * 600 rows of one character before 150 of a hundred thousand; `meanwhile` may write between the
 * first two slices.
 */
function slicesOfMixed(
  meanwhile: (write: (name: string, key: number, value: string) => void) => void,
): string[][] {
  const store = new Store({
    marks: table({ text: register<string>() }),
    blobs: table({ text: register<string>() }),
  });
  let version = 0;
  const write = (name: string, key: number, value: string): void => {
    version += 1;
    const stamp: Stamp = {
      time: version,
      site: siteAt(0),
      entry: siteAt(0),
      version,
      seen: [0, version],
    };
    store.apply({ table: name, key: String(key), field: 'text', action: 'write', value }, stamp);
  };
  for (let key = 0; key < 600; key += 1) write('marks', key, 'x');
  for (let key = 0; key < 150; key += 1) write('blobs', key, LARGE);
  store.closeChanges();
  const slices = new CheckpointSlices({ sections: { rows: store } } as never);
  const taken: string[][] = [];
  for (let isLast = false; !isLast && taken.length < 1_000;) {
    const slice = slices.take();
    isLast = slice.isLast;
    if (taken.push([...slice.rows]) === 1) meanwhile(write);
  }
  return taken;
}

const LARGE = TEXT.repeat(10);

test('many small rows before large ones → slices of about 128 KiB, each row once', () => {
  const slices = slicesOfMixed(() => {});
  const sizes = slices.map((rows) => rows.reduce((sum, row) => sum + row.length, 0));
  expect(Math.max(...sizes)).toBeLessThan(128 * KIB + 2 * LARGE.length);
  expect(slices.flat()).toHaveLength(750);
  expect(new Set(slices.flat()).size).toBe(750);
});

test('rows that change while they wait for their slice → saved as they were', () => {
  const slices = slicesOfMixed((write) => {
    for (let key = 0; key < 150; key += 1) write('blobs', key, 'new');
  });
  const state = new Map(
    slices.flat().map((row) => (JSON.parse(row) as string[]).slice(1) as [string, unknown]),
  );
  expect(state.size).toBe(750);
  expect(JSON.stringify([...state.values()])).not.toContain('new');
});
