// @rule CLU-I6
import { describe, expect, it } from 'vitest';
import { mixEntry, mixOperation, PrefixDigest } from '../../../../src/server/log/prefix-digest.ts';
import type { BlueOperation } from '../../../../src/server/service/records/records.ts';
import { siteAt } from '../../../support/origins.ts';

const entryAt = (place: number) => ({
  origin: siteAt(place % 3),
  epoch: 1,
  sequence: place,
});

const operationAt = (place: number): BlueOperation => ({
  id: `c/${place}`,
  site: siteAt(0),
  sequence: place,
  vector: [place * 10],
  effects: [],
  reply: { value: null },
});

const KINDS = [
  {
    kind: 'entries of a red log',
    mixAt: (digest: number, place: number) => mixEntry(digest, entryAt(place)),
    addAt: (digest: PrefixDigest, place: number, neededFrom: number) =>
      digest.add(entryAt(place), neededFrom),
  },
  {
    kind: 'operations of a stream',
    mixAt: (digest: number, place: number) => mixOperation(digest, operationAt(place)),
    addAt: (digest: PrefixDigest, place: number, neededFrom: number) =>
      digest.addOperation(operationAt(place), neededFrom),
  },
];

const TOTAL = 5000;

describe.each(KINDS)('the digest of $kind', ({ mixAt, addAt }) => {
  const expected = [0];
  for (let place = 0; place < TOTAL; place += 1)
    expected.push(mixAt(expected[place] as number, place));

  /** Returns the places that it knows, after it compared each of them. */
  function knownPlaces(digest: PrefixDigest): number[] {
    const places: number[] = [];
    for (let place = 0; place <= digest.count + 1; place += 1) {
      const known = digest.at(place);
      if (known === undefined) continue;
      expect([place, known]).toEqual([place, expected[place]]);
      places.push(place);
    }
    return places;
  }

  // Sites compare what they know: a place that is not known must not have a digest, or two equal
  // logs count as forked.
  it.each([1022, 1023, 1024, 1025, 2047, 2048, 2049, 4096])(
    'knows no wrong place if %i entries wait',
    (waiting) => {
      const digest = new PrefixDigest(0, 0);
      const neededFrom = TOTAL - waiting;
      for (let place = 0; place < TOTAL; place += 1)
        addAt(digest, place, Math.min(place, neededFrom));

      const places = knownPlaces(digest);
      expect(places[0]).toBeLessThanOrEqual(neededFrom);
      expect(places).toHaveLength(TOTAL - (places[0] as number) + 1);
    },
  );

  it('knows no place before a checkpoint when it grows', () => {
    const digest = new PrefixDigest(2000, expected[2000]);
    for (let place = 2000; place < TOTAL; place += 1) addAt(digest, place, 2000);

    expect(knownPlaces(digest)[0]).toBe(2000);
  });

  it('knows none after an unknown digest, however far it grows', () => {
    const digest = new PrefixDigest(2000, undefined);
    for (let place = 2000; place < TOTAL; place += 1) addAt(digest, place, 2000);

    expect(knownPlaces(digest)).toEqual([]);
  });
});
