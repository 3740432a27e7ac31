/** The table of origins: the red order first, sites after it, nothing ever moved. */
import { describe, expect, test } from 'vitest';
import { Origins, RED, startName } from '../../../../src/server/records/origin.ts';
import type { Origin } from '../../../../src/server/records/origin.ts';
import { zeroVector } from '../../../../src/server/records/vector.ts';

const origins = Origins.of(['irl', 'frk', 'vrg']);
const [irl, frk, vrg] = origins.sites as [Origin, Origin, Origin];

describe('origins', () => {
  test('the red order is 0, sites follow in the order of the deployment', () => {
    expect([RED, ...origins.sites]).toEqual([0, 1, 2, 3]);
    expect(origins.sites.map((site) => origins.nameOf(site))).toEqual(['irl', 'frk', 'vrg']);
    expect(zeroVector(origins)).toEqual([0, 0, 0, 0]);
  });

  test('by name, and those beside one', () => {
    expect([origins.find('frk'), origins.find('red'), origins.others(frk)]).toEqual([frk, undefined, [irl, vrg]]);
  });

  test('which ordinals are of sites', () => {
    expect([-1, 0, 1, 3, 4, 1.5, NaN].map((ordinal) => origins.isSite(ordinal))).toEqual([
      false,
      false,
      true,
      true,
      false,
      false,
      false,
    ]);
    expect(() => origins.at(RED)).toThrow('no site has ordinal 0');
  });

  test('saved by a deployment with fewer sites → fits; by one with others, or another order → does not', () => {
    const check = (...sites: string[]): void => origins.check(Origins.of(sites).save());
    check();
    check('irl', 'frk');
    check('irl', 'frk', 'vrg');
    expect(() => check('frk', 'irl')).toThrow('ordinal 1 was frk (incarnation 0), and is irl (incarnation 0)');
    expect(() => check('irl', 'frk', 'vrg', 'tok')).toThrow('ordinal 4 was tok (incarnation 0), and is nobody');
    expect(() => origins.check([['irl', 7, 'open']])).toThrow('ordinal 1 was irl (incarnation 7), and is irl');
  });

  test('names of starts → none is that of another site, incarnation or start', () => {
    const names = ['a', 'a-0', 'a-0-1'].flatMap((site) =>
      [0, 1, 36].flatMap((incarnation) =>
        [1, 36].map((start) => startName({ site, incarnation, state: 'open' }, start)),
      ),
    );
    expect(new Set(names).size).toBe(names.length);
  });
});
