/** What one site is held to beside the same parts, and what is only reported. */
import { expect, test } from 'vitest';
import type { Measured } from '../../../bench/load/processes.ts';
import type { Samples } from '../../../bench/load/rounds.ts';
import { barsOf, NAMES_OF, WORKLOADS, type Name, type Workload } from '../../../bench/redblue-overhead/bars.ts';

function runs(opsPerSecond: number): Measured[] {
  const serverUsPerOp = 1e6 / opsPerSecond;
  const each = { opsPerSecond, clientUsPerOp: 1, serverUsPerOp, serverCores: 1, p50Ms: 1, p99Ms: 1, p999Ms: 1 };
  return Array.from({ length: 7 }, (_, at) => ({ ...each, start: at + 1 }));
}

/** Everybody does as much, but for those that are given. */
function measured(given: Partial<Record<Name, number>>): ReadonlyMap<Workload, Samples<Name>> {
  const of = (workload: Workload): Samples<Name> =>
    new Map(NAMES_OF[workload].map((name) => [name, runs(given[name] ?? 1000)]));
  return new Map(WORKLOADS.map((workload) => [workload, of(workload)]));
}

const barIn = (given: Partial<Record<Name, number>>, name: string): unknown =>
  barsOf(measured(given)).find((bar) => bar.name === name);

test.each([
  [840, 'missed'],
  [860, 'held'],
  [960, 'met'],
])('%i operations beside 1000 of the same parts → %s', (one, verdict) => {
  expect(barIn({ 'one site': one }, 'one-site-vs-the-same-parts')).toMatchObject({
    value: one / 1000,
    floor: 0.85,
    aim: 0.95,
    verdict,
  });
  // As it was, beside it.
  expect(barIn({ 'one site': one }, 'one-site-vs-the-same-parts-mix-by-turns')).toMatchObject({ verdict });
});

test('the old bar is of tuned sites beside what batches nothing, at its old aim', () => {
  const bar = barIn({ 'one site': 500, 'one site, tuned': 950 }, 'one-site-vs-plain');
  expect(bar).toMatchObject({ value: 0.95, aim: 0.94, verdict: 'met' });
});

test("a day's work is reported without a goal, with a log on the disk too", () => {
  const given = { "a day's work": 4000, "a day's work, durable": 2000 };
  expect(barIn(given, 'one-site-vs-a-day')).toMatchObject({ value: 0.25, verdict: null });
  expect(barIn(given, 'one-site-vs-a-day-durable-deposit')).toMatchObject({ value: 0.5, verdict: null });
  expect(barIn(given, 'server-time-vs-the-same-parts')).toMatchObject({ value: 1, verdict: null });
});

test('the mix when all the rest has run in the same processes is reported beside it, without a goal', () => {
  const samples = new Map(measured({ 'one site': 700 }));
  samples.set('mix-warm', measured({ 'one site': 900 }).get('mix-warm')!);
  const valueOf = (name: string): unknown => barsOf(samples).find((bar) => bar.name === name);
  expect(valueOf('one-site-vs-the-same-parts')).toMatchObject({ value: 0.7, verdict: 'missed' });
  expect(valueOf('one-site-vs-the-same-parts-mix-warm')).toMatchObject({ value: 0.9, verdict: null });
});
