/**
 * `npm run sim -- --runs N [--world W] [--seed S] [--profile P] [--partitions N] [--with OPTIONS]
 * [--jobs N] [--planted] [--digest] [--json]` Exit 0 iff none has a fault; with `--planted`, iff every planted
 * fault is caught.
 */
import { createHash } from 'node:crypto';
import { availableParallelism } from 'node:os';
import { cac } from 'cac';
import { MAX_SHOWN_FAULTS, neverCame, runBatch, runDealt } from './batch.ts';
import type { Batch, BatchResult } from './batch.ts';
import { Random } from '../../src/server/service/collections/random.ts';
import { drawOptions, PROFILES } from '../../src/testing/simulator/options.ts';
import { INJECTED_BUGS } from './injected-bugs.ts';
import { drawOptions as drawCausalOptions } from './causal/options.ts';
import { findMissingCausal, findPlantedCausal, runCausalBatch } from './causal/batch.ts';
import { PLANTED_CAUSAL_FAULTS } from './causal/planted-faults.ts';
import { parseOverrides, simulate } from './simulate.ts';

interface Flags extends Batch {
  readonly world: World;
  readonly jobs: number;
  readonly planted?: boolean;
  /** Plant this fault alone. */
  readonly only?: string | undefined;
  readonly json?: boolean;
}

/** What is simulated: the RedBlue backend, or the causal store. */
const WORLDS = ['redblue', 'causal'] as const;
type World = (typeof WORLDS)[number];

/** Runs in which a planted fault has to show itself. */
const PLANTED_RUNS_MAX = 500;
/** Fewer runs are not worth another process. */
const RUNS_PER_JOB_MIN = 100;

const cli = cac('sim');
cli.option(
  '--runs <count>',
  `How many seeds to run. Each process shows ${MAX_SHOWN_FAULTS} faults, and the seeds of more`,
  { default: 200 },
);
cli.option('--world <world>', `One of ${WORLDS.join(', ')}`, { default: 'redblue' });
cli.option('--seed <seed>', 'The first seed', { default: 1 });
cli.option('--profile <profile>', `One of ${PROFILES.join(', ')}`, { default: 'swarm' });
cli.option(
  '--partitions <count>',
  'At most so many red logs a run, drawn from its seed (default: as the profile)',
);
cli.option('--with <options>', 'Options in the place of drawn ones, as JSON', { default: '{}' });
cli.option('--jobs <count>', 'Processes to deal the runs out to (default: one a core)');
cli.option('--planted', 'Plant each fault in turn; exit 0 only if every one is caught');
cli.option('--only <fault>', 'With --planted: this fault alone');
cli.option('--digest', 'Print a digest of all that the runs did, and with --json that of each run');
cli.option('--json', 'Print one JSON object');
cli.help((sections) => [
  ...sections,
  { title: 'Options of --with, as drawn for seed 1', body: describeOptions() },
  { title: 'The same with --world causal', body: describe(drawCausalOptions(new Random(1))) },
]);
const { options } = cli.parse();
if (options['help'] !== true) process.exitCode = await main(flagsOf(options));

async function main(flags: Flags): Promise<number> {
  return flags.planted === true ? runPlanted(flags) : runSeeds(flags);
}

function flagsOf(input: Readonly<Record<string, unknown>>): Flags {
  const profile = PROFILES.find((name) => name === input['profile']);
  if (profile === undefined) throw new Error(`--profile must be one of ${PROFILES.join(', ')}`);
  const world = WORLDS.find((name) => name === input['world']);
  if (world === undefined) throw new Error(`--world must be one of ${WORLDS.join(', ')}`);
  if (world === 'causal' && input['digest'] === true)
    throw new Error('--digest is for the world redblue');
  const whole = (name: string, least: number): number => {
    const value = Number(input[name]);
    if (Number.isInteger(value) && value >= least) return value;
    throw new Error(`--${name} must be an integer from ${least} on`);
  };
  const flag = (name: string): boolean => input[name] === true;
  const maxLogs = input['partitions'] === undefined ? {} : { maxLogs: whole('partitions', 1) };
  const overrides = { ...maxLogs, ...parseOverrides(String(input['with'])) };
  const [runs, seed] = [whole('runs', 1), whole('seed', 0)];
  const only = input['only'] === undefined ? undefined : String(input['only']);
  const maxJobs = input['jobs'] === undefined ? availableParallelism() : whole('jobs', 1);
  const jobs = Math.min(maxJobs, Math.ceil(runs / RUNS_PER_JOB_MIN));
  return {
    world,
    runs,
    seed,
    profile,
    overrides,
    jobs,
    planted: flag('planted'),
    digest: flag('digest'),
    only,
    json: flag('json'),
  };
}

function describeOptions(): string {
  return describe(drawOptions(1));
}

/** A line for each option, with a value that it may have. */
function describe(drawn: object): string {
  return Object.entries(drawn)
    .map(
      ([name, value]) => `  ${name}: ${value === Infinity ? '"Infinity"' : JSON.stringify(value)}`,
    )
    .join('\n');
}

async function runSeeds(flags: Flags): Promise<number> {
  const { world, jobs, json, profile, seed, overrides } = flags;
  const startedAtMs = performance.now();
  const result =
    world === 'causal'
      ? runCausalBatch({ ...flags, overrides: overrides as object })
      : jobs === 1
        ? runBatch(flags)
        : await runDealt(flags, jobs, (sum) => showProgress(sum, flags));
  const { runs, counted, faults, coverage, digests = [] } = result;
  const digest = createHash('sha256').update(JSON.stringify(digests)).digest('hex');
  const digestParts = flags.digest === true ? { digest, digests } : {};
  const seconds = Math.round(performance.now() - startedAtMs) / 1000;
  if (json === true) {
    console.log(
      JSON.stringify({
        runs,
        counted,
        profile,
        firstSeed: seed,
        faults,
        seconds,
        coverage,
        ...digestParts,
      }),
    );
  } else {
    console.table(coverage);
    console.log(
      `${counted} runs (${runs - counted} empty ones not counted), ${faults.length} with a fault, ${seconds} s`,
    );
    if (flags.digest === true) console.log(`digest ${digest}`);
  }
  const missing =
    world === 'causal' ? findMissingCausal(result, overrides) : neverCame(result, flags);
  if (missing.length > 0)
    process.stderr.write(`never came, so that nothing is shown of it: ${missing.join(', ')}\n`);
  return faults.length === 0 && counted > 0 && missing.length === 0 ? 0 : 1;
}

function showProgress({ runs, faults }: BatchResult, flags: Flags): void {
  process.stderr.write(`${runs}/${flags.runs} runs, ${faults.length} with a fault\n`);
}

function runPlanted({ seed, json, only }: Flags): number {
  const rows: Record<string, unknown>[] = [];
  for (const [name, planted] of Object.entries(INJECTED_BUGS)) {
    if (only !== undefined && name !== only) continue;
    const row: Record<string, unknown> = { fault: name, rule: planted.rule, caught: false };
    for (let index = 0; index < PLANTED_RUNS_MAX && row['caught'] === false; index += 1) {
      const { violation } = simulate(seed + index, planted.profile, { planted });
      if (violation !== undefined && planted.caughtBy.includes(violation.checker))
        Object.assign(row, { caught: true, by: violation.checker, runs: index + 1 });
    }
    rows.push(row);
    if (json !== true) showPlanted(row);
  }
  for (const name of Object.keys(PLANTED_CAUSAL_FAULTS)) {
    if (only !== undefined && name !== only) continue;
    const row = { ...findPlantedCausal(name, seed) };
    rows.push(row);
    if (json !== true) showPlanted(row);
  }
  if (json === true) console.log(JSON.stringify({ planted: rows }));
  return rows.length > 0 && rows.every(({ caught }) => caught === true) ? 0 : 1;
}

function showPlanted(row: Readonly<Record<string, unknown>>): void {
  console.log(
    `${row['caught'] === true ? 'caught' : 'MISSED'}  ${String(row['fault'])}: ${JSON.stringify(row)}`,
  );
}
