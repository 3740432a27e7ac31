/** Many runs, one seed after the other, in this process or dealt out to several. */
import { fork } from 'node:child_process';
import type { Profile, SimulationOptions } from '../../src/testing/simulator/options.ts';
import { formatOverrides, shrinkRun } from '../../src/testing/simulator/shrink.ts';
import type { RunResult } from '../../src/testing/simulator/run-result.ts';
import { RunDigest } from './run-digest.ts';
import { createSetup, simulate } from './simulate.ts';

/** Which runs. */
export interface Batch {
  readonly runs: number;
  /** The first seed; the others follow. */
  readonly seed: number;
  readonly profile: Profile;
  readonly overrides: Partial<SimulationOptions>;
  /** Compute the digest of each run. Default: false */
  readonly digest?: boolean;
}

/** What came of them. */
export interface BatchResult {
  readonly runs: number;
  /** Runs in which something was answered: the others prove nothing. */
  readonly counted: number;
  readonly faults: readonly {
    readonly seed: number;
    readonly checker: string;
    readonly message: string;
  }[];
  /** What the runs went through, added up. */
  readonly coverage: Readonly<Record<string, number>>;
  /** The digest of each run with its seed, if the batch asks for them. */
  readonly digests?: readonly (readonly [seed: number, digest: string])[];
}

/**
 * What a batch of the profile `swarm` has to go through: what was injected, and what happened
 * afterwards.
 */
export const EXPECTED = [
  'answered CONFLICT',
  'answered REPLICA_BEHIND',
  'answered UNKNOWN',
  'answered REPLY_EXPIRED',
  'answered OVERLOADED',
  'memory raised',
  'refused by the domain',
  'floors',
  'transfers of rights',
  'pools shared out',
  'rights.request lost',
  'rights.request repeated',
  'rights.request overtaking',
  'blue.operations lost',
  'blue.operations repeated',
  'blue.operations overtaking',
  'answered TIMEOUT',
  'given up',
  'given up in time',
  'red rejected',
  'red standing on others',
  'red committed on others',
  'red rejected with others',
  'commits trimmed',
  'crashes',
  'crashes of the leader',
  'pauses',
  'partitions',
  'full disks',
  'refused by a full disk',
  'torn writes',
  'starts after a torn write',
  'checkpoints',
  'commits lost by a crash',
  'commits kept by a crash',
  'entries of rows lost',
  'bits of rows flipped',
  'old rows brought back',
  'stopped by damaged rows',
  'starts from a checkpoint',
  'sites lost',
  'clocks quarantined',
  'views in sessions',
  'moves',
  'red deliveries repeated',
  'digests grown',
  'comparisons of rows',
  'sites compared',
  'rows compared one by one',
  'rows.digest lost',
  'rows.digest repeated',
  'rows.digest overtaking',
  'beyond maxBatch',
  'beyond maxPassedOn',
  'beyond maxContended',
  'beyond maxEarlyFields',
  'beyond maxSavedUnsent',
  'beyond maxFrameBytes',
  'beyond maxTurnCharacters',
  'beyond maxRequestedRows',
  'red logs halted',
  'sites fenced',
] as const;
/** Fewer runs may miss something. */
export const EXPECTED_FROM_RUNS = 200;

/** What the runs never went through, though they should have: they prove nothing of it. */
export function neverCame(
  { runs, coverage }: BatchResult,
  { profile, overrides }: Batch,
): readonly string[] {
  if (runs < EXPECTED_FROM_RUNS || profile !== 'swarm' || Object.keys(overrides).length > 0)
    return [];
  return EXPECTED.filter((name) => (coverage[name] ?? 0) === 0);
}

/** Faults that a process shows, and further ones whose seeds it lists. */
export const MAX_SHOWN_FAULTS = 5;
const MAX_LISTED_SEEDS = 20;
/** Runs that are dealt out at a time. */
const DEAL = 200;

/** Runs a batch here; shows the first faults, shrunken, on standard error. */
export function runBatch({ runs, seed, profile, overrides, digest }: Batch): BatchResult {
  const coverage: Record<string, number> = {};
  const digests: (readonly [number, string])[] = [];
  const faults: BatchResult['faults'][number][] = [];
  let counted = 0;
  for (let index = 0; index < runs; index += 1) {
    const hash = new RunDigest();
    const recording = digest === true ? { createCheckers: () => [hash] } : {};
    const result = simulate(seed + index, profile, { overrides, ...recording });
    if (digest === true) digests.push([seed + index, hash.finish()]);
    add(coverage, result.coverage);
    if ((result.coverage['operations answered'] ?? 0) > 0) counted += 1;
    if (result.violation === undefined) continue;
    faults.push({ seed: result.seed, ...result.violation });
    if (faults.length <= MAX_SHOWN_FAULTS)
      process.stderr.write(`${describeFault(result, profile, overrides)}\n`);
  }
  process.stderr.write(describeMore(faults));
  return { runs, counted, faults, coverage, digests };
}

/**
 * Deals a batch out to `jobs` processes of this same program, which each run a part with `--jobs 1 --json`.
 */
export async function runDealt(
  batch: Batch,
  jobs: number,
  progress: (sum: BatchResult) => void,
): Promise<BatchResult> {
  const { runs, seed } = batch;
  let sum: BatchResult = { runs: 0, counted: 0, faults: [], coverage: {} };
  let next = 0;
  const work = async (): Promise<void> => {
    while (next < runs) {
      const part = { ...batch, runs: Math.min(DEAL, runs - next), seed: seed + next };
      next += part.runs;
      const result = await runElsewhere(part);
      sum = added(sum, result);
      progress(sum);
    }
  };
  await Promise.all(Array.from({ length: jobs }, work));
  return sum;
}

function runElsewhere({ runs, seed, profile, overrides, digest }: Batch): Promise<BatchResult> {
  const args = [
    '--runs',
    String(runs),
    '--seed',
    String(seed),
    '--profile',
    profile,
    '--jobs',
    '1',
    '--json',
  ];
  args.push('--with', formatOverrides(overrides));
  if (digest === true) args.push('--digest');
  const child = fork(process.argv[1] ?? '', args, { stdio: ['ignore', 'pipe', 'inherit', 'ipc'] });
  let printed = '';
  child.stdout?.on('data', (text: Buffer) => (printed += text.toString()));
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code, signal) => {
      try {
        resolve(JSON.parse(printed) as BatchResult);
      } catch {
        const how = signal === null ? `with code ${code}` : `by ${signal}`;
        reject(new Error(`the process with seeds from ${seed} on ended ${how} and left no result`));
      }
    });
  });
}

/** Describes a fault by a simpler run that has it too, and by the command that repeats that run. */
function describeFault(
  found: RunResult,
  profile: Profile,
  options: Partial<SimulationOptions>,
): string {
  const { seed } = found;
  const { result, overrides } = shrinkRun(found, profile, createSetup({ overrides: options }));
  const command = `npm run sim -- --runs 1 --seed ${seed} --profile ${profile}`;
  return [
    `seed ${seed}: ${result.violation?.checker}: ${result.violation?.message}`,
    `  again: ${command} --with '${formatOverrides(overrides)}'`,
  ].join('\n');
}

/** Names the seeds of the faults that are not shown. It is empty if all are. */
export function describeMore(faults: BatchResult['faults']): string {
  const seeds = faults.slice(MAX_SHOWN_FAULTS).map(({ seed }) => seed);
  if (seeds.length === 0) return '';
  const end = seeds.length > MAX_LISTED_SEEDS ? ', …' : '';
  const listed = seeds.slice(0, MAX_LISTED_SEEDS).join(', ');
  return `${seeds.length} more with a fault: seeds ${listed}${end}\n`;
}

function added(a: BatchResult, b: BatchResult): BatchResult {
  const coverage = { ...a.coverage };
  add(coverage, b.coverage);
  const faults = [...a.faults, ...b.faults].toSorted((item, other) => item.seed - other.seed);
  const digests = [...(a.digests ?? []), ...(b.digests ?? [])].toSorted(
    ([seed], [other]) => seed - other,
  );
  return { runs: a.runs + b.runs, counted: a.counted + b.counted, faults, coverage, digests };
}

function add(sum: Record<string, number>, counts: Readonly<Record<string, number>>): void {
  for (const [name, count] of Object.entries(counts)) sum[name] = (sum[name] ?? 0) + count;
}
