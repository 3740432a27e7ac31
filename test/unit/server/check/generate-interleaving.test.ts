/**
 * Meetings that are drawn: an operation that needs a past gets one, and a drawing can be repeated.
 */
import { describe, expect, test } from 'vitest';
import { Random } from '../../../../src/server/service/collections/random.ts';
import { generateInterleaving } from '../../../../src/server/check/generate-interleaving.ts';
import type { GeneratedInterleaving } from '../../../../src/server/check/generate-interleaving.ts';
import { SearchContext } from '../../../../src/server/check/search-context.ts';
import { bankService } from './bank.ts';

const SEEDS = Array.from({ length: 60 }, (_, n) => n + 1);
const workshop = new SearchContext(bankService());

const generated = (seed: number, past = 0): GeneratedInterleaving =>
  generateInterleaving(workshop, {
    random: new Random(seed),
    scope: { names: 1, maxNumber: 2, past },
    here: 'withdraw',
    there: 'deposit',
  });

describe('a meeting', () => {
  test('goes on with its past until the operation finds what it needs', () => {
    const meetings = SEEDS.flatMap((seed) => generated(seed).interleaving ?? []);
    expect(meetings.length).toBeGreaterThan(SEEDS.length / 2);
    expect(
      meetings.every(({ here, past }) => here.operation === 'withdraw' && past.length > 0),
    ).toBe(true);
  });

  test('has the wanted operation at the other site, and up to two more', () => {
    const meetings = SEEDS.flatMap((seed) => generated(seed, 5).interleaving ?? []);
    expect(new Set(meetings.map(({ there }) => there[0]?.operation))).toEqual(new Set(['deposit']));
    expect(new Set(meetings.map(({ there }) => there.length))).toEqual(new Set([1, 2, 3]));
    expect(meetings.every(({ place, there }) => place >= 0 && place <= 2 * there.length)).toBe(
      true,
    );
  });

  test('has steps with serials of their own, and no step that chose nothing', () => {
    for (const seed of SEEDS) {
      const { interleaving, results: executed } = generated(seed, 5);
      const steps =
        interleaving === undefined
          ? []
          : [...interleaving.past, interleaving.here, ...interleaving.there];
      expect(new Set(steps.map(({ serial }) => serial)).size).toBe(steps.length);
      expect(executed.map(({ outcome }) => outcome?.choice === undefined)).toEqual(
        steps.map(() => false),
      );
    }
  });

  test('is the same for the same seed', () => {
    expect(generated(5, 5).interleaving).toEqual(generated(5, 5).interleaving);
  });
});
