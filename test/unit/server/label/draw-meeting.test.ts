/** Meetings that are drawn: an operation that needs a past gets one, and a drawing can be repeated. */
import { describe, expect, test } from 'vitest';
import { Random } from '../../../../src/server/collections/random.ts';
import { drawMeeting } from '../../../../src/server/label/draw-meeting.ts';
import type { Drawing } from '../../../../src/server/label/draw-meeting.ts';
import { Workshop } from '../../../../src/server/label/workshop.ts';
import { bankService } from './bank.ts';

const SEEDS = Array.from({ length: 60 }, (_, n) => n + 1);
const workshop = new Workshop(bankService());

const drawn = (seed: number, past = 0): Drawing =>
  drawMeeting(workshop, {
    random: new Random(seed),
    scope: { names: 1, numberMax: 2, past },
    here: 'withdraw',
    there: 'deposit',
  });

describe('a meeting', () => {
  test('goes on with its past until the operation finds what it needs', () => {
    const meetings = SEEDS.flatMap((seed) => drawn(seed).meeting ?? []);
    expect(meetings.length).toBeGreaterThan(SEEDS.length / 2);
    expect(meetings.every(({ here, past }) => here.operation === 'withdraw' && past.length > 0)).toBe(true);
  });

  test('has the wanted operation at the other site, and up to two more', () => {
    const meetings = SEEDS.flatMap((seed) => drawn(seed, 5).meeting ?? []);
    expect(new Set(meetings.map(({ there }) => there[0]?.operation))).toEqual(new Set(['deposit']));
    expect(new Set(meetings.map(({ there }) => there.length))).toEqual(new Set([1, 2, 3]));
    expect(meetings.every(({ place, there }) => place >= 0 && place <= 2 * there.length)).toBe(true);
  });

  test('has steps with serials of their own, and no step that chose nothing', () => {
    for (const seed of SEEDS) {
      const { meeting, ran } = drawn(seed, 5);
      const steps = meeting === undefined ? [] : [...meeting.past, meeting.here, ...meeting.there];
      expect(new Set(steps.map(({ serial }) => serial)).size).toBe(steps.length);
      expect(ran.map(({ outcome }) => outcome?.choice === undefined)).toEqual(steps.map(() => false));
    }
  });

  test('is the same for the same seed', () => {
    expect(drawn(5, 5).meeting).toEqual(drawn(5, 5).meeting);
  });
});
