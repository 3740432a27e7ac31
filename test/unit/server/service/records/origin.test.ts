/** The table of origins: the red order first, sites after it, nothing ever moved. */
// @rule BS-O1, BS-O3, BS-O4
import { describe, expect, test } from 'vitest';
import { Origins, RED, formatStartName } from '../../../../../src/server/service/records/origin.ts';
import type { Origin } from '../../../../../src/server/service/records/origin.ts';
import { createZeroVector } from '../../../../../src/server/service/records/vector.ts';

const origins = Origins.create(['ireland', 'frankfurt', 'virginia']);
const [ireland, frankfurt, virginia] = origins.sites as [Origin, Origin, Origin];

describe('origins', () => {
  test('the red order is 0, sites follow in the order of the deployment', () => {
    expect([RED, ...origins.sites]).toEqual([0, 1, 2, 3]);
    expect(origins.sites.map((site) => origins.getName(site))).toEqual([
      'ireland',
      'frankfurt',
      'virginia',
    ]);
    expect(createZeroVector(origins)).toEqual([0, 0, 0, 0]);
  });

  test('by name, and those beside one', () => {
    expect([origins.find('frankfurt'), origins.find('red'), origins.getOthers(frankfurt)]).toEqual([
      frankfurt,
      undefined,
      [ireland, virginia],
    ]);
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
    expect(() => origins.get(RED)).toThrow('no site has ordinal 0');
  });

  test('saved by a deployment with fewer sites → fits; by one with others, or another order → does not', () => {
    const check = (...sites: string[]): void => origins.load(Origins.create(sites).save());
    check();
    check('ireland', 'frankfurt');
    check('ireland', 'frankfurt', 'virginia');
    expect(() => check('frankfurt', 'ireland')).toThrow(
      'ordinal 1 was frankfurt (incarnation 0), and is ireland (incarnation 0)',
    );
    expect(() => check('ireland', 'frankfurt', 'virginia', 'tok')).toThrow(
      'ordinal 4 was tok (incarnation 0), and is no site',
    );
    expect(() => origins.load([['ireland', 7, 'open']])).toThrow(
      'ordinal 1 was ireland (incarnation 7), and is ireland',
    );
  });

  test('names of starts → none is that of another site, incarnation or start', () => {
    const names = ['a', 'a-0', 'a-0-1'].flatMap((site) =>
      [0, 1, 36].flatMap((incarnation) =>
        [1, 36].map((start) => formatStartName({ site, incarnation, state: 'open' }, start)),
      ),
    );
    expect(new Set(names).size).toBe(names.length);
  });
});
