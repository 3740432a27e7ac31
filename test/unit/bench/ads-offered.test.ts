/** Requests at a rate: both contenders get the same ones, and what waits to begin has waited. */
import { expect, test } from 'vitest';
import { offer, type OfferOptions } from '../../../bench/ads/offered.ts';
import type { Application, Way } from '../../../demo/shared/chase/application.ts';

type Asked = [way: Way | 'change', user: number];

/** Delivers what the final references name, at once; where it is wrong, the baseline delivers something else. */
function application(asked: Asked[], isWrong = false): Application {
  return {
    users: 10,
    async fetch(user, way, watch) {
      asked.push([way, user]);
      watch.references(['a'], true);
      watch.delivered(isWrong && way === 'baseline' ? ['b'] : ['a']);
      return [];
    },
    async change(user) {
      asked.push(['change', user]);
    },
  };
}

const options = (own: Pick<OfferOptions, 'application' | 'first'>): OfferOptions => ({
  workload: 'A',
  share: 0.5,
  perSecond: 2000,
  durationMs: 100,
  seed: 1,
  onLine: () => {},
  ...own,
});

test('offer: as many requests as the rate asks for, the same ones for both, in the order that was asked for', async () => {
  const asked: Asked[] = [];
  const { share, perSecond, wrongDeliveries, baseline } = await offer(
    options({ application: application(asked), first: 'correctable' }),
  );
  expect({ share, perSecond, wrongDeliveries }).toEqual({ share: 0.5, perSecond: 2000, wrongDeliveries: 0 });
  expect(asked).toHaveLength(400);
  const kinds = ([way, user]: Asked): Asked => [way === 'change' ? way : 'baseline', user];
  expect(asked.slice(0, 200).map(kinds)).toEqual(asked.slice(200).map(kinds));
  expect(asked.find(([way]) => way !== 'change')?.[0]).toBe('correctable');
  expect(asked.filter(([way]) => way === 'change').length).toBeGreaterThan(100);
  expect(baseline.p50Ms).toBeGreaterThan(0);
  expect(baseline.p99Ms).toBeGreaterThanOrEqual(baseline.p50Ms);
});

test('offer: a stall of the process → those that could not begin have waited, though each was served at once', async () => {
  const plain = application([]);
  let isFirst = true;
  const stalling: Application = {
    ...plain,
    fetch(user, way, watch) {
      if (isFirst) {
        isFirst = false;
        const until = performance.now() + 60;
        while (performance.now() < until);
      }
      return plain.fetch(user, way, watch);
    },
  };
  const { baseline } = await offer(options({ application: stalling, first: 'baseline' }));
  expect(baseline.p99Ms).toBeGreaterThan(30);
});

test('offer: latencies are those of fetches: there are some where nothing is changed', async () => {
  const asked: Asked[] = [];
  const fetched = offer({
    ...options({ application: application(asked), first: 'baseline' }),
    workload: 'C',
    perSecond: 10,
  });
  await expect(fetched).resolves.toMatchObject({ baseline: { p50Ms: expect.any(Number) } });
  expect(asked.map(([way]) => way)).toEqual(['baseline', 'correctable']);
});

test('offer: something else was delivered than the final references name → counted', async () => {
  const { wrongDeliveries } = await offer(options({ application: application([], true), first: 'baseline' }));
  expect(wrongDeliveries).toBeGreaterThan(0);
});

test('offer: no request came up → refused, rather than a latency of nothing', async () => {
  const nothing = { ...options({ application: application([]), first: 'baseline' }), durationMs: 0 };
  await expect(offer(nothing)).rejects.toThrow('no requests');
});
