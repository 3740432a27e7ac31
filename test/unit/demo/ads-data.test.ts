/**
 * The generated data has the paper's shape (Correctables, OSDI 2016, §6.3.1) and depends on the
 * seed alone.
 */
import { describe, expect, test } from 'vitest';
import { adData, REFERENCES_MAX, REFERENCES_MIN } from '../../../demo/ad-server/data.ts';
import { workloadOf, type Workload } from '../../../demo/shared/speculation/workload.ts';
import { tweetData } from '../../../demo/twissandra/data.ts';

describe('ads', () => {
  test('data: scale 1 → 100 000 profiles and 230 000 ads', () => {
    expect(adData({ scale: 1, seed: 1 })).toMatchObject({ profiles: 100_000, ads: 230_000 });
    expect(adData({ scale: 0.02, seed: 1 })).toMatchObject({ profiles: 2_000, ads: 4_600 });
  });

  test('data: every profile → 1 to 40 different references to ads that exist, every length taken', () => {
    const data = adData({ scale: 0.02, seed: 7 });
    const known = new Set(Array.from({ length: data.ads }, (_, index) => data.ad(index).id));
    const lengths = new Set<number>();
    for (let user = 0; user < data.profiles; user += 1) {
      const refs = data.refsOf(user);
      expect(new Set(refs).size).toBe(refs.length);
      expect(refs.filter((ref) => !known.has(ref))).toEqual([]);
      lengths.add(refs.length);
    }
    const allLengths = Array.from(
      { length: REFERENCES_MAX - REFERENCES_MIN + 1 },
      (_, n) => REFERENCES_MIN + n,
    );
    expect([...lengths].sort((a, b) => a - b)).toEqual(allLengths);
  });

  test('data: the same seed, in another order → the same; another seed → another', () => {
    const [item, again, other] = [1, 1, 2].map((seed) => adData({ scale: 0.01, seed }));
    const users = [500, 3, 0, 999];
    expect(users.map((user) => item?.refsOf(user))).toEqual(
      users
        .toReversed()
        .map((user) => again?.refsOf(user))
        .toReversed(),
    );
    expect(item?.ad(17)).toEqual(again?.ad(17));
    expect(users.map((user) => item?.refsOf(user))).not.toEqual(
      users.map((user) => other?.refsOf(user)),
    );
  });
});

test('tweets: scale 1 → 65 000 over 22 000 timelines, none of them empty, no tweet twice', () => {
  const data = tweetData({ scale: 1, seed: 1 });
  expect(data).toMatchObject({ timelines: 22_000, tweets: 65_000 });
  const posts = Array.from({ length: data.tweets }, (_, index) => data.post(index));
  expect(new Set(posts.map(({ user }) => user)).size).toBe(22_000);
  expect(new Set(posts.map(({ tweet }) => tweet.id)).size).toBe(65_000);
});

test.each([
  ['A', 0.5],
  ['B', 0.05],
  ['C', 0],
] as const)(
  'workload %s → a share of %d writes, the same steps for the same seed',
  (workload: Workload, share) => {
    const sequences = workloadOf(workload, 100);
    const [next, again] = [sequences(5), sequences(5)];
    const steps = Array.from({ length: 4000 }, next);
    expect(steps.filter(({ kind }) => kind === 'change').length / 4000).toBeCloseTo(share, 1);
    expect(Array.from({ length: 4000 }, again)).toEqual(steps);
    expect(steps.every(({ user }) => user >= 0 && user < 100)).toBe(true);
  },
);
