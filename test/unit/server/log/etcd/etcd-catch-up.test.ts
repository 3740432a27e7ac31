/** Reading the log by key, in the order of revisions. */
// @rule ETCD-D1
import { expect, test } from 'vitest';
import { Random } from '../../../../../src/server/service/collections/random.ts';
import { EtcdCatchUp } from '../../../../../src/server/log/etcd/etcd-catch-up.ts';
import { EtcdKeys } from '../../../../../src/server/log/etcd/etcd-keys.ts';
import type { EntryName } from '../../../../../src/server/service/records/records.ts';
import { EtcdStore } from '../../../../../src/testing/simulator/etcd/etcd-store.ts';
import { siteAt } from '../../../../support/origins.ts';

const KEYS = new EtcdKeys({ deployment: 'test', generation: 0 });
const VALUE = new Uint8Array(0);
const PAGE = 3;

/** What a catch-up takes of a store: keys in order. */
function readAll(
  store: EtcdStore,
  progress: ReadonlyMap<never, never> | Map<number, { epoch: number; next: number }>,
  last?: EntryName,
): string[] {
  const catchUp = new EtcdCatchUp(KEYS, progress as never, last);
  const taken: string[] = [];
  for (;;) {
    const step = catchUp.takeStep();
    if (step.kind === 'done') return taken;
    if (step.kind === 'take') taken.push(step.entry.key);
    else {
      const { entries, hasMore } = store.range(step.range, PAGE, 0) ?? {
        entries: [],
        hasMore: false,
      };
      catchUp.onRange(entries, hasMore);
    }
  }
}

test.each([1, 2, 3, 4, 5, 6, 7, 8])(
  'random starts of several sites, seed %i → in the order of revisions',
  (seed) => {
    const random = new Random(seed);
    const store = new EtcdStore();
    const starts = new Map<number, { epoch: number; next: number }>();
    const written: string[] = [];
    for (let count = 0; count < 60; count += 1) {
      const site = siteAt(random.between(0, 3));
      const { epoch, next } = starts.get(site) ?? { epoch: 1, next: 1 };
      const place = random.chance(0.2) ? { epoch: epoch + 1, next: 1 } : { epoch, next };
      const key = KEYS.formatGroup(site, place.epoch, place.next);
      starts.set(site, { epoch: place.epoch, next: place.next + 1 });
      store.create(key, VALUE);
      written.push(key);
    }
    expect(readAll(store, new Map())).toEqual(written);
    // From where a copy ends.
    const known = written.slice(0, 25);
    const progress = new Map(
      known.map((key) => {
        const { site, start, last } = KEYS.parseGroup(key) as {
          site: number;
          start: number;
          last: number;
        };
        return [site, { epoch: start, next: last + 1 }] as const;
      }),
    );
    expect(readAll(store, progress)).toEqual(written.slice(25));
  },
);

test('delivers a late group of an earlier start at its revision, after groups of the later start', () => {
  const store = new EtcdStore();
  const keys = [
    KEYS.formatGroup(1, 1, 1),
    KEYS.formatGroup(1, 2, 1),
    KEYS.formatGroup(1, 1, 2),
    KEYS.formatGroup(1, 2, 2),
  ];
  for (const key of keys) store.create(key, VALUE);
  expect(readAll(store, new Map())).toEqual(keys);
});

test('repetition of a group that the copy has, stored again after it was trimmed → holds up nothing behind it', () => {
  const store = new EtcdStore();
  const keys = [
    KEYS.formatGroup(siteAt(0), 1, 2),
    KEYS.formatGroup(siteAt(1), 1, 1),
    KEYS.formatGroup(siteAt(0), 1, 1),
  ];
  for (const key of keys) store.create(key, VALUE);
  const last = { origin: siteAt(0), epoch: 1, sequence: 1 };
  const progress = new Map([[siteAt(0), { epoch: 1, next: 2 }]]);
  expect(readAll(store, progress, last)).toEqual([keys[2], keys[0], keys[1]]);
});

test('keys → in the order of what they say, and back', () => {
  expect(KEYS.formatGroup(2, 10, 3) > KEYS.formatGroup(2, 9, 300)).toBe(true);
  expect(KEYS.parseGroup(KEYS.formatGroup(2, 10, 3))).toEqual({ site: 2, start: 10, last: 3 });
  expect(KEYS.parseGroup('/other/0/red/1/1/1')).toBeUndefined();
  expect(KEYS.parseTrim(KEYS.formatTrim(12))).toBe(12);
});
