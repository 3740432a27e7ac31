/**
 * The table of the landing demo, measured with the page's own code: when each way shows the page,
 * and when it enables Buy.
 */
import { createClient } from 'correctables';
import { memory, memoryStore } from 'correctables/bindings/memory';
import { put } from 'correctables/operations';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { prepareClick } from '../../../demo/landing/click.ts';
import { measure, type Measures } from '../../../demo/landing/measures.ts';
import { readSegmentsOf } from '../../../demo/landing/page/segments.ts';
import type { Scenario } from '../../../demo/landing/scenario.ts';
import { openStore } from '../../../demo/landing/store.ts';
import { open as openWithCorrectables } from '../../../demo/landing/ways/correctables.ts';
import { OFFER, type Offer, type Open, type Shop } from '../../../demo/landing/ways/shop.ts';
import { WAY_NAMES, type WayName } from '../../../demo/landing/ways/ways.ts';
import { open as openWithQueryPerKey } from '../../../demo/landing/ways/query-per-key.ts';

const FRESH: Scenario = { distanceMs: 150, isStale: false, isLastOne: false, isCut: false };
const STALE: Scenario = { ...FRESH, isStale: true };
/** Longer than a click takes, with the timeout of a store that cannot be reached. */
const SETTLED_MS = 5_000;

/**
 * Converts a time to round trips to the server. The nearby copy answers in less than half a trip.
 */
const toTrips = (ms: number | undefined, { distanceMs }: Scenario): number | undefined =>
  ms === undefined ? undefined : Math.round(ms / distanceMs);

async function runClick(way: WayName, scenario: Scenario) {
  const preparing = prepareClick(way, { scenario, buysAtOnce: true, onStep: () => {} });
  await vi.advanceTimersByTimeAsync(0);
  const click = (await preparing)();
  await vi.advanceTimersByTimeAsync(SETTLED_MS);
  await click.settled;
  return click;
}

async function measureAll<T>(
  scenario: Scenario,
  pick: (measures: Measures) => T,
): Promise<Record<string, T>> {
  const entries = WAY_NAMES.map(
    async (way) => [way, pick(measure(await runClick(way, scenario)))] as const,
  );
  return Object.fromEntries(await Promise.all(entries)) as Record<string, T>;
}

/** Opens a store whose copy does not know yet that the goods are sent from another warehouse. */
async function openAfterMove(): Promise<Shop> {
  const store = memoryStore();
  const office = createClient(memory({ store, delaysMs: { weak: 0, strong: 0 } }));
  const offer: Offer = { price: 20, left: 40, warehouse: 'Lyon' };
  await Promise.all([
    office.invoke(put(OFFER, offer)),
    office.invoke(put('Lyon', 'tomorrow from Lyon')),
    office.invoke(put('Turin', 'tomorrow from Turin')),
  ]);
  const shop = createClient(
    memory({ store, delaysMs: { weak: 4, strong: FRESH.distanceMs }, lagMs: 10 * SETTLED_MS }),
  );
  await office.invoke(put(OFFER, { ...offer, warehouse: 'Turin' }));
  await office.close();
  return shop;
}

/** Measures when a page enables Buy, in round trips. */
async function measureEnabled(
  open: Open,
  openShop: () => Promise<Shop>,
): Promise<number | undefined> {
  const opening = openShop();
  await vi.advanceTimersByTimeAsync(10);
  const shop = await opening;
  const beganAt = performance.now();
  let enabledMs: number | undefined;
  const allowBuying = (): unknown => (enabledMs = performance.now() - beganAt);
  const opened = open(shop, { show: () => {}, allowBuying, answer: () => {} });
  await vi.advanceTimersByTimeAsync(SETTLED_MS);
  await opened;
  await shop.close();
  return toTrips(enabledMs, FRESH);
}

beforeEach(() => {
  vi.useFakeTimers({
    toFake: ['setTimeout', 'clearTimeout', 'setImmediate', 'clearImmediate', 'Date', 'performance'],
  });
});

afterEach(() => {
  vi.useRealTimers();
});

describe('round trips to the server', () => {
  test('all ways except plain await show the page before the server has answered', async () => {
    const shown = { await: 2, careless: 0, careful: 0, correctables: 0 };
    expect(await measureAll(FRESH, ({ shownMs }) => toTrips(shownMs, FRESH))).toEqual(shown);
    expect(await measureAll(STALE, ({ shownMs }) => toTrips(shownMs, STALE))).toEqual(shown);
  });

  test.each([
    ['right', FRESH],
    ['old', STALE],
  ])(
    'the copy of the price was %s → Correctables enables Buy after one trip instead of two',
    async (_, scenario) => {
      const enabled = await measureAll(scenario, ({ enabledMs }) => toTrips(enabledMs, scenario));
      expect(enabled).toEqual({ await: 2, careless: 0, careful: 2, correctables: 1 });
    },
  );

  test.each([
    ['right', async () => await openStore(FRESH), 1],
    ['right, but its price was old', async () => await openStore(STALE), 1],
    ['wrong, so that the second read runs again', openAfterMove, 2],
  ])(
    'the warehouse of the copy was %s → a query for each key is as early as Correctables',
    async (_, openShop, trips) => {
      for (const open of [openWithCorrectables, openWithQueryPerKey])
        expect(await measureEnabled(open, openShop)).toBe(trips);
    },
  );

  test('the reads of Correctables overlap, and those of the others follow each other', async () => {
    const overlap = async (way: WayName): Promise<boolean> => {
      const [first, second] = readSegmentsOf(await runClick(way, FRESH), SETTLED_MS);
      return (second?.fromMs ?? Infinity) < (first?.toMs ?? 0);
    };
    expect(await Promise.all(WAY_NAMES.map(overlap))).toEqual([false, false, false, true]);
  });
});

describe('wrong sales', () => {
  test.each([
    ['a fresh copy', FRESH, undefined],
    ['an old price', STALE, 'wrong price'],
    ['the last one is gone', { ...FRESH, isLastOne: true }, 'taken back'],
    ['no connection', { ...FRESH, isCut: true }, 'never sold'],
  ])('%s → only the way that does not hold Buy can sell wrongly', async (_, scenario, careless) => {
    expect(await measureAll(scenario, ({ wrongSale }) => wrongSale)).toEqual({
      await: undefined,
      careless,
      careful: undefined,
      correctables: undefined,
    });
  });
});
