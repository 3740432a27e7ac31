/** Many runs of the causal store, and the search for its planted faults. */
import { describeMore, MAX_SHOWN_FAULTS, type Batch, type BatchResult } from '../batch.ts';
import type { CausalRunOptions } from './options.ts';
import { PLANTED_CAUSAL_FAULTS } from './planted-faults.ts';
import { simulateCausal } from './world.ts';

/** What a batch has to go through: what was injected, and what happened afterwards. */
export const EXPECTED_CAUSAL = [
  'lost',
  'repeated',
  'timeouts',
  'cuts',
  'restarts',
  'clock steps',
  'set back',
  'lost writes',
  'repeated writes',
  'writes given up',
  'reads at latest',
  'refused SESSION_AHEAD',
  'put answered CLOCK',
  'put answered REWOUND',
  'read answered TOO_OLD',
  'read answered BEHIND',
  'apply answered STALE',
  'seek answered STALE',
  'pull answered LOST',
  'alarm dropped-entries',
  'alarm lost-writes',
  'tombstones dropped',
] as const;

const EXPECTED_FROM_RUNS = 200;
/** Runs in which a planted fault has to show itself. */
const PLANTED_RUNS_MAX = 300;

export function runCausalBatch({
  runs,
  seed,
  overrides,
}: Pick<Batch, 'runs' | 'seed'> & { readonly overrides: Partial<CausalRunOptions> }): BatchResult {
  const coverage: Record<string, number> = {};
  const faults: BatchResult['faults'][number][] = [];
  let counted = 0;
  for (let index = 0; index < runs; index += 1) {
    const result = simulateCausal(seed + index, overrides);
    for (const [name, count] of Object.entries(result.coverage))
      coverage[name] = (coverage[name] ?? 0) + count;
    if ((result.coverage['reads'] ?? 0) > 0) counted += 1;
    if (result.violation === undefined) continue;
    faults.push({ seed: result.seed, ...result.violation });
    if (faults.length <= MAX_SHOWN_FAULTS)
      process.stderr.write(
        `seed ${result.seed}: ${result.violation.checker}: ${result.violation.message}\n`,
      );
  }
  process.stderr.write(describeMore(faults));
  return { runs, counted, faults, coverage };
}

/** What the runs never went through, though they should have: they prove nothing of it. */
export function findMissingCausal(
  { runs, coverage }: BatchResult,
  overrides: object,
): readonly string[] {
  if (runs < EXPECTED_FROM_RUNS || Object.keys(overrides).length > 0) return [];
  return EXPECTED_CAUSAL.filter((name) => (coverage[name] ?? 0) === 0);
}

/** A planted fault, and whether a run shows it. */
export interface PlantedCausalResult {
  readonly fault: string;
  readonly rule: string;
  readonly caught: boolean;
  readonly by?: string;
  readonly runs?: number;
}

/** Runs seeds until one shows the planted fault. */
export function findPlantedCausal(name: string, firstSeed = 1): PlantedCausalResult {
  const fault = PLANTED_CAUSAL_FAULTS[name];
  if (fault === undefined) throw new Error(`No fault is planted by the name ${name}`);
  const { rule, caughtBy, overrides } = fault;
  for (let runs = 1; runs <= PLANTED_RUNS_MAX; runs += 1) {
    const { violation } = simulateCausal(firstSeed + runs - 1, overrides, fault);
    if (violation !== undefined && caughtBy.includes(violation.checker))
      return { fault: name, rule, caught: true, by: violation.checker, runs };
  }
  return { fault: name, rule, caught: false };
}
