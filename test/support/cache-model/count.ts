/** `tsx count.ts RUNS SEED`: in how many of so many schedules which promises are broken, as JSON. Exit 0 in any case. */
import fc from 'fast-check';
import { Sights } from '../outcomes/sights.ts';
import { play } from './play.ts';
import { schedules } from './schedule.ts';
import { settings } from './setting.ts';

const [runs = 1_000, seed = 1] = process.argv.slice(2).map(Number);
Error.stackTraceLimit = 0;

const broken: Record<string, number> = {};
const examples: Record<string, string> = {};
const sights = new Sights();
let wrong = 0;
for (const [setting, steps] of fc.sample(fc.tuple(settings, schedules), { numRuns: runs, seed })) {
  const problems = await play(setting, steps, sights).catch((error: unknown) => [`thrown: ${String(error)}`]);
  if (problems.length > 0) wrong += 1;
  for (const problem of problems) {
    const promise = problem.split(':')[0]!;
    if (examples[promise] === undefined) examples[promise] = problem;
  }
  for (const promise of new Set(problems.map((problem) => problem.split(':')[0]!)))
    broken[promise] = (broken[promise] ?? 0) + 1;
}
process.stdout.write(`${JSON.stringify({ runs, seed, wrong, broken, examples, sights: String(sights) })}\n`);
