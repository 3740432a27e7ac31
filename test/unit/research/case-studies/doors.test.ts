/** Where users of a case study go: to their own site, or to the nearest one. */
import { memory } from 'correctables/bindings/memory';
import { createClient } from 'correctables';
import { expect, test } from 'vitest';
import { doorsEverywhere, type SiteDoor } from '../../../../research/case-studies/deployment.ts';
import { SITES } from '../../../../research/case-studies/sites.ts';

/** The clients are never used: only their identity matters. */
const doorsOf = (sites: number): readonly SiteDoor[] =>
  SITES.slice(0, sites).map((site) => {
    return { site, client: createClient(memory()) as unknown as SiteDoor['client'], awayMs: 0 };
  });

test('as many sites as places → each its own, and no way to it', () => {
  const doors = doorsOf(5);
  expect(doorsEverywhere(doors)).toEqual(doors);
});

test('one site → all ask it, from as far as they are', () => {
  const doors = doorsOf(1);
  const everywhere = doorsEverywhere(doors);
  expect(everywhere.map(({ site, awayMs }) => [site, awayMs])).toEqual([
    ['ue', 0],
    ['uw', 85],
    ['ie', 92],
    ['br', 150],
    ['sg', 252],
  ]);
  expect(everywhere.every(({ client }) => client === doors[0]?.client)).toBe(true);
});

test('three sites → Singapore asks US west, Brazil US east', () => {
  const doors = doorsOf(3);
  const [, , , brazil, singapore] = doorsEverywhere(doors);
  expect([brazil?.client === doors[0]?.client, brazil?.awayMs]).toEqual([true, 150]);
  expect([singapore?.client === doors[1]?.client, singapore?.awayMs]).toEqual([true, 181]);
});
