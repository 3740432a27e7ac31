/**
 * `npm run sim -- --runs N [--seed S] [--profile P] [--with OPTIONS] [--planted] [--json]`: simulated runs, one after the
 * other. Exit 0 iff none has a fault; with `--planted`, iff every planted fault is caught.
 */
import { cac } from 'cac';
import { PROFILES } from './options.ts';
import type { Profile, SimulationOptions } from './options.ts';
import { PLANTED } from './planted.ts';
import { simulate } from './simulation.ts';
import type { RunResult } from './simulation.ts';
import { formatOverrides, parseOverrides, shrink } from './shrink.ts';

interface Flags {
  readonly runs: number;
  readonly seed: number;
  readonly profile: Profile;
  readonly overrides: Partial<SimulationOptions>;
  readonly planted?: boolean;
  /** Plant this fault alone. */
  readonly only?: string | undefined;
  readonly json?: boolean;
}

/** Runs in which a planted fault has to show itself. */
const PLANTED_RUNS_MAX = 500;
const FAULTS_SHOWN_MAX = 5;
const PROGRESS_EVERY_MS = 2000;

const cli = cac('sim');
cli.option('--runs <count>', 'How many seeds to run', { default: 200 });
cli.option('--seed <seed>', 'The first seed', { default: 1 });
cli.option('--profile <profile>', `One of ${PROFILES.join(', ')}`, { default: 'swarm' });
cli.option('--with <options>', 'Options in the place of drawn ones, as JSON', { default: '{}' });
cli.option('--planted', 'Plant each fault in turn; exit 0 only if every one is caught');
cli.option('--only <fault>', 'With --planted: this fault alone');
cli.option('--json', 'Print one JSON object');
cli.help();
const { options } = cli.parse();
if (options['help'] !== true) process.exitCode = main(flagsOf(options));

function main(flags: Flags): number {
  return flags.planted === true ? runPlanted(flags) : runSeeds(flags);
}

function flagsOf(given: Readonly<Record<string, unknown>>): Flags {
  const profile = PROFILES.find((name) => name === given['profile']);
  if (profile === undefined) throw new Error(`--profile must be one of ${PROFILES.join(', ')}`);
  const whole = (name: string, least: number): number => {
    const value = Number(given[name]);
    if (Number.isInteger(value) && value >= least) return value;
    throw new Error(`--${name} must be a whole number from ${least} on`);
  };
  const flag = (name: string): boolean => given[name] === true;
  const overrides = parseOverrides(String(given['with']));
  const [runs, seed] = [whole('runs', 1), whole('seed', 0)];
  const only = given['only'] === undefined ? undefined : String(given['only']);
  return { runs, seed, profile, overrides, planted: flag('planted'), only, json: flag('json') };
}

function runSeeds({ runs, seed, profile, overrides, json }: Flags): number {
  const startedAtMs = Date.now();
  const coverage: Record<string, number> = {};
  const faulty: RunResult[] = [];
  let empty = 0;
  let shownAtMs = startedAtMs;
  for (let index = 0; index < runs; index += 1) {
    const result = simulate(seed + index, profile, { overrides });
    for (const [name, count] of Object.entries(result.coverage)) coverage[name] = (coverage[name] ?? 0) + count;
    if (result.coverage['operations answered'] === 0) empty += 1;
    if (result.fault !== undefined) faulty.push(result);
    if (result.fault !== undefined && faulty.length <= FAULTS_SHOWN_MAX) showFault(result, profile, overrides);
    if (Date.now() - shownAtMs < PROGRESS_EVERY_MS) continue;
    shownAtMs = Date.now();
    process.stderr.write(`${index + 1}/${runs} runs, ${faulty.length} with a fault\n`);
  }
  const seconds = (Date.now() - startedAtMs) / 1000;
  const counted = runs - empty;
  if (json === true) {
    const faults = faulty.map(({ seed: faultySeed, fault }) => ({ seed: faultySeed, ...fault }));
    console.log(JSON.stringify({ runs, counted, profile, firstSeed: seed, faults, seconds, coverage }));
  } else {
    console.table(coverage);
    console.log(`${counted} runs (${empty} empty ones not counted), ${faulty.length} with a fault, ${seconds} s`);
  }
  return faulty.length === 0 && counted > 0 ? 0 : 1;
}

function showFault(found: RunResult, profile: Profile, given: Partial<SimulationOptions>): void {
  const { seed, fault } = found;
  const { result, overrides } = shrink(found, profile, { overrides: given });
  process.stderr.write(`seed ${seed}: ${fault?.checker}: ${fault?.message}\n`);
  process.stderr.write(`  shrunken to ${formatOverrides(result.options)}\n  ${result.fault?.message}\n`);
  const command = `npm run sim -- --runs 1 --seed ${seed} --profile ${profile}`;
  process.stderr.write(`  again: ${command} --with '${formatOverrides(overrides)}'\n`);
}

function runPlanted({ seed, json, only }: Flags): number {
  const rows: Record<string, unknown>[] = [];
  for (const [name, planted] of Object.entries(PLANTED)) {
    if (only !== undefined && name !== only) continue;
    const row: Record<string, unknown> = { fault: name, rule: planted.rule, caught: false };
    for (let index = 0; index < PLANTED_RUNS_MAX && row['caught'] === false; index += 1) {
      const { fault } = simulate(seed + index, planted.profile, { planted });
      if (fault !== undefined && planted.caughtBy.includes(fault.checker))
        Object.assign(row, { caught: true, by: fault.checker, runs: index + 1 });
    }
    rows.push(row);
    if (json !== true) console.log(`${row['caught'] === true ? 'caught' : 'MISSED'}  ${name}: ${JSON.stringify(row)}`);
  }
  if (json === true) console.log(JSON.stringify({ planted: rows }));
  return rows.length > 0 && rows.every(({ caught }) => caught === true) ? 0 : 1;
}
