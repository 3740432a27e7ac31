/**
 * The case studies with data and users: everything loads, every request works, and both sites end
 * with the same data.
 */
import type { Operation } from 'correctables';
import { expect, test } from 'vitest';
import {
  drawnFrom,
  type Audit,
  type CaseStudy,
} from '../../../../research/case-studies/case-study.ts';
import { mixes as quoddyMixes } from '../../../../research/case-studies/quoddy/mixes.ts';
import { study as quoddy } from '../../../../research/case-studies/quoddy/study.ts';
import { mixes as rubisMixes } from '../../../../research/case-studies/rubis/mixes.ts';
import { study as rubis } from '../../../../research/case-studies/rubis/study.ts';
import { load } from '../../../../research/case-studies/run.ts';
import { seeded } from '../../../../demo/shared/random.ts';
import { storeOf, twoSites, type TwoSites } from './two-sites.ts';

const SEED = 7;
const CLICKS = 300;

const sumOf = (mix: Readonly<Record<string, number>>, names = Object.keys(mix)): number =>
  names.reduce((sum, name) => sum + (mix[name] ?? 0), 0);

test('rubis → 26 requests; 15 of a hundred are writes; those of a nickname and of a piece are red', () => {
  const { bidding, browsing } = rubisMixes;
  expect(Object.keys(bidding)).toHaveLength(26);
  expect(Object.keys(browsing).toSorted()).toEqual(Object.keys(bidding).toSorted());
  const updates = ['registerUser', 'registerItem', 'storeBid', 'storeBuyNow', 'storeComment'];
  expect(sumOf(bidding)).toBeCloseTo(100);
  expect(sumOf(bidding, updates)).toBeCloseTo(15);
  expect(sumOf(browsing, updates)).toBe(0);
});

test('quoddy → 13 requests; 15 of a hundred are writes', () => {
  expect(Object.keys(quoddyMixes.social)).toHaveLength(13);
  expect(sumOf(quoddyMixes.social)).toBe(100);
  expect(
    sumOf(quoddyMixes.social, ['updateStatus', 'addFriend', 'confirmFriend', 'addToFollow']),
  ).toBe(15);
});

const RUNS: readonly { readonly study: CaseStudy; readonly scale: number }[] = [
  { study: rubis, scale: 0.0002 },
  { study: quoddy, scale: 0.0005 },
];

test.each(RUNS)(
  '$study.name → all data at both sites, and the same after users have clicked',
  async ({ study, scale }) => {
    await using sites = twoSites(study.service);
    const stores = [storeOf(sites.east), storeOf(sites.west)] as const;
    await Promise.all(
      Array.from(study.populate(scale, seeded(SEED)), (operation) => stores[0].ask(operation)),
    );
    const loaded = await sameAtBoth(study, sites);

    // What is loaded again is there already.
    const [, again] = study.populate(scale, seeded(SEED));
    if (again !== undefined) await stores[1].ask(again);
    expect((await sameAtBoth(study, sites)).rows).toBe(loaded.rows);

    const [mix = {}] = Object.values(study.mixes);
    const random = seeded(SEED);
    const requested = new Set<string>();
    const clicks = stores.map(async (store, user) => {
      const requests = study.enter({ store, random: seeded(user), scale, user });
      // Each at least once.
      for (const name of Object.keys(mix)) await requests[name]?.();
      for (let n = 0; n < CLICKS; n += 1) {
        const name = drawnFrom(mix, random);
        requested.add(name);
        await requests[name]?.();
      }
    });
    await Promise.all(clicks);
    expect(requested.size).toBeGreaterThan(10);
    const { rows, broken } = await sameAtBoth(study, sites);
    expect(broken).toEqual([]);
    expect(rows).toBeGreaterThan(loaded.rows);
    expect(sites.alarms).toEqual([]);
    expect(study.thinkMs(seeded(1))).toBeGreaterThan(0);
  },
);

test('interrupted while data is loaded → no more of it is, and all sites have what there is', async () => {
  await using sites = twoSites(quoddy.service);
  const interrupted = new AbortController();
  let generated = 0;
  const populate: CaseStudy['populate'] = function* (scale, random) {
    for (const operation of quoddy.populate(scale, random)) {
      generated += 1;
      if (generated === 3) interrupted.abort();
      yield operation;
    }
  };
  const doors = [
    { site: 'ue', client: sites.east, awayMs: 0 },
    { site: 'uw', client: sites.west, awayMs: 0 },
  ] as const;
  const loaded = await load({ ...quoddy, populate }, doors, {
    scale: 0.01,
    seed: SEED,
    signal: interrupted.signal,
  });
  expect([generated, loaded]).toEqual([3, 3]);
  expect(await sameAtBoth(quoddy, sites)).toMatchObject({
    rows: expect.any(Number) as number,
    broken: [],
  });
});

/** Waits until both sites have the same data. */
async function sameAtBoth(study: CaseStudy, { east, west }: TwoSites): Promise<Audit> {
  for (;;) {
    // Strong reads: the site has taken in what was sent to it meanwhile.
    const [item, other] = [
      await study.audit({ ask: strongly(east) }),
      await study.audit({ ask: strongly(west) }),
    ];
    if (item.digest === other.digest) return item;
  }
}

const strongly =
  (client: TwoSites['east']) =>
  async <T>(operation: Operation<T>): Promise<T> =>
    client.invokeStrong(operation);
