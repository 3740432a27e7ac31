/**
 * A cache never shows a view that is too old, of another user, or cleared, whatever happens to the
 * store behind, to the store of the cache, to the other tabs and to the page. It is judged by the
 * truth alone, which is one line of writes (docs/spec/cache.md, CACHE-1–CACHE-6, CACHE-9;
 * test/support/cache-model). `CACHE_MODEL_SEED=7 CACHE_MODEL_RUNS=100000` repeats a run, or makes
 * it longer.
 */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { runSchedule, shortest } from '../support/cache-model/run-schedule.ts';
import { schedules } from '../support/cache-model/schedule.ts';
import { drawCacheOptions } from '../support/cache-model/options.ts';
import { Coverage } from '../support/outcomes/coverage.ts';
import { scaleRuns } from '../support/lane.ts';

const SEED = Number(process.env['CACHE_MODEL_SEED'] ?? 5);
const RUNS = Number(process.env['CACHE_MODEL_RUNS'] ?? scaleRuns(1_000));

/**
 * What so many schedules must have led to, and how often in a thousand of them: a cache that keeps
 * nothing is never wrong.
 */
const SEEN_PER_THOUSAND: Readonly<Record<string, number>> = {
  hit: 2_000,
  'hit of what was kept': 600,
  'hit from another tab': 150,
  'hit after own write': 800,
  'hit after a clearing': 60,
  'hit after a restored backup': 50,
  'hit in a session': 300,
  'weak hit after a write of another user': 5,
  'hit of row': 150,
  'hit of feed': 25,
  'hit of count b': 60,
  'hit of getMany a b': 25,
  'own write': 600,
  'own write while the store is ill': 200,
  'a write failed': 10,
  'a replayed write': 200,
  'another user': 150,
  'unknown user': 60,
  'the store refused': 800,
  'clear, done': 50,
  'clear, refused': 20,
  'invalidate, done': 40,
  'invalidate, refused': 10,
  // Faults, and how the store behind orders two views.
  reload: 1_500,
  disk: 900,
  land: 700,
  'restore backup': 300,
  'hold notices': 300,
  fail: 80,
  'set clock': 50,
  'hit with versions: none': 250,
  'hit with versions: object': 250,
  'hit with versions: global': 250,
  'hit with versions: operation': 250,
  'hit with versions: tag': 250,
  'hit with versions: strong': 250,
  'hit with versions: class': 200,
};

test(`cache: any schedule, seed ${SEED} → nothing is shown that may not be`, async () => {
  const sights = new Coverage();
  const property = fc.asyncProperty(drawCacheOptions, schedules, async (setting, steps) => {
    const problems = await runSchedule(setting, steps, sights);
    if (problems.length > 0) throw new Error(await shortest(setting, steps));
  });
  // Steps that do not matter are left out by `shortest`, which knows what they are.
  await fc.assert(property, { seed: SEED, numRuns: RUNS, endOnFailure: true });
  // With so many runs, what is rare has been seen.
  if (RUNS >= 1_000) expect(sights.seldom(SEEN_PER_THOUSAND, RUNS), String(sights)).toEqual([]);
}, 3_600_000);
