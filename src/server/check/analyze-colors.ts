/**
 * Analyzes which shadow operations of a service may be blue (RedBlue, OSDI 2012, §5.3). A search
 * that finds no violation does not prove that there is none, so a verdict reports how much was
 * tried.
 */
import { Random, getMaxFirstSeed } from '../service/collections/random.ts';
import {
  EPOCH_MS,
  generateInterleaving,
  type GeneratedStep,
  type TriedSteps,
} from './generate-interleaving.ts';
import {
  checkOption,
  integer,
  readOptions,
  required,
  type ResolvedOptions,
} from '../../correctable/options.ts';
import { requireService, type Service } from '../service/service.ts';
import { ANALYSIS_CALL, ANALYSIS_OPTIONS, type ColorAnalysisOptions } from './analysis-options.ts';
import {
  findFailingGenerators,
  createFindings,
  findUnchosenWrites,
  createTable,
  createVerdicts,
  toColorWarning,
  type ColorReport,
} from './color-report.ts';
import { SearchContext } from './search-context.ts';
import { structurallyEqual } from '../../correctable/structural-equality.ts';
import type { Choice } from '../service/records/reply.ts';
import { formatThrown } from '../service/records/failures.ts';
import { runInterleaving, type Violation, type InterleavingResult } from './run-interleaving.ts';
import { AnalysisSite } from './analysis-site.ts';
import { ValuePool, getScope } from './values/value-generator.ts';
import { shrinkViolation } from './shrink-violation.ts';
import { getChoice, type Interleaving, type StepResult, type Step } from './interleaving.ts';
import { TrialStats } from './trial-stats.ts';

/** The share of runs that run a read twice. */
const READ_RUN_SHARE = 0.25;

/**
 * Returns for each shadow operation of a service whether it may be blue, with a counterexample if
 * it may not.
 *
 * @throws CorrectableError `INVALID_ARGUMENT` with the name of the invalid option, or of the
 * arbitrary that threw.
 * @example
 * const { shadows } = analyzeColors(bankService);
 * expect(shadows.filter(({ verdict }) => verdict === 'unsafe')).toEqual([]);
 */
export function analyzeColors(service: Service, options: ColorAnalysisOptions = {}): ColorReport {
  const analysis = new ColorAnalysis(service, options);
  analysis.continueRuns();
  return analysis.report;
}

/**
 * An analysis that runs in parts. A caller may stop it because code of the service does not return,
 * and then read its results so far.
 */
export class ColorAnalysis {
  readonly #context: SearchContext;
  readonly #stats: TrialStats;
  readonly #options: ColorAnalysisOptions;
  readonly #first: number;
  readonly #runs: number;
  #completedRuns = 0;
  #isEnded = false;

  /** @throws as `analyzeColors` */
  constructor(service: Service, options: ColorAnalysisOptions = {}) {
    const { runs, seed } = readAnalysisOptions(service, options);
    this.#options = options;
    this.#first = seed;
    this.#runs = runs;
    this.#context = new SearchContext(service, options);
    this.#stats = new TrialStats(new AnalysisSite(this.#context).findViolation([]));
  }

  get isDone(): boolean {
    return this.#isEnded || this.#completedRuns >= this.#runs;
  }

  /** The seed of the next run, or of the run that was stopped. */
  get seed(): number {
    return this.#first + this.#completedRuns;
  }

  /**
   * Makes runs until none are left, or `until` returns true. Simplifies a violation that was found
   * until `endsShrinking` returns true.
   */
  continueRuns(until: () => boolean = () => false, endsShrinking?: () => boolean): void {
    const { shouldContinue } = this.#options;
    while (!this.isDone && !until()) {
      this.#isEnded = shouldContinue?.(this.#completedRuns) === false;
      if (this.#isEnded) return;
      this.#run(this.seed, endsShrinking);
      this.#completedRuns += 1;
    }
  }

  get report(): ColorReport {
    const { service } = this.#context;
    const stats = this.#stats;
    const shadows = createVerdicts(service, stats);
    return {
      service: service.name,
      runs: this.#completedRuns,
      seed: this.#first,
      shadows,
      warnings: stats.restoredRows.map(toColorWarning),
      generators: createFindings([
        ...findFailingGenerators(service, stats),
        ...stats.generators,
        ...findUnchosenWrites(service, stats),
      ]),
      table: createTable(service, shadows, this.#options.requests),
    };
  }

  /**
   * Makes the run with this seed. In runs with consecutive seeds, all pairs of operations take
   * turns.
   */
  #run(seed: number, endsShrinking?: () => boolean): void {
    const { writes } = this.#context.service;
    const { length } = writes;
    // Try each operation beside itself first, which shows a violation most often, then beside the
    // next one, and so on.
    const [here, there] = [
      writes[seed % length],
      writes[(seed + Math.floor(seed / length)) % length],
    ];
    const random = new Random(seed);
    if (here === undefined || there === undefined) {
      // The service has no writes, so only reads can be run.
      this.#runRead(random, {
        triedSteps: [],
        pool: new ValuePool(),
        site: new AnalysisSite(this.#context),
      });
      return;
    }
    const scope = getScope(Math.floor(seed / length ** 2));
    const drawing = generateInterleaving(this.#context, {
      random,
      scope,
      here,
      there,
    });
    for (const operation of drawing.operationsWithoutArgs) {
      const problem = this.#context.args.describeMissing(operation);
      this.#stats.noteGenerator(operation, { problem });
    }
    for (const item of drawing.triedSteps) this.#noteResult(item);
    if (random.chance(READ_RUN_SHARE)) this.#runRead(random, drawing);
    if (drawing.interleaving === undefined) return;
    const interleaving = this.#runInterleaving(drawing.interleaving, drawing.results);
    const result = runInterleaving(this.#context, interleaving);
    this.#checkDeterminism(interleaving, drawing.results, result.results);
    this.#note(interleaving, result);
    if (result.restoredRow !== undefined) this.#stats.noteRestoredRow(result.restoredRow, seed);
    if (result.violation !== undefined) this.#noteViolation(result.violation, seed, endsShrinking);
  }

  /**
   * Runs an interleaving. A shadow operation that can only be red is not tried beside others. It
   * only has to keep the state valid in which it was chosen.
   */
  #runInterleaving(interleaving: Interleaving, executed: readonly StepResult[]): Interleaving {
    const choice = executed[interleaving.past.length]?.outcome?.choice;
    if (choice === undefined) return interleaving;
    const reason = this.#context.service.getInherentRedReason(choice.shadow, choice.effects);
    if (reason === undefined) return interleaving;
    this.#stats.getTrial(choice.shadow, interleaving.here.operation).inherentRedReason = reason;
    return { ...interleaving, there: [], place: 0 };
  }

  #note(interleaving: Interleaving, { localChoice, concurrentShadows }: InterleavingResult): void {
    if (localChoice === undefined) return;
    const trial = this.#stats.getTrial(localChoice.shadow, interleaving.here.operation);
    if (concurrentShadows.length > 0) trial.trialCount += 1;
    for (const shadow of new Set(concurrentShadows))
      trial.partnerCounts.set(shadow, (trial.partnerCounts.get(shadow) ?? 0) + 1);
  }

  #noteViolation(violation: Violation, seed: number, endsShrinking?: () => boolean): void {
    const trial = this.#stats.getTrial(violation.shadow, violation.operation);
    const kind = violation.kind === 'alone' ? 'localViolation' : 'concurrentViolation';
    if (trial[kind] !== undefined) return;
    // Record the violation before it is simplified: the analysis may be stopped during that,
    // because code does not return.
    trial[kind] = { violation, seed };
    trial[kind] = {
      violation: shrinkViolation(this.#context, violation, endsShrinking),
      seed,
    };
  }

  /** Runs a read. Its generator may be wrong, and it must have no effects. */
  #runRead(random: Random, { triedSteps, pool, site }: TriedSteps): void {
    const { service, args } = this.#context;
    if (service.reads.length === 0) return;
    const near = triedSteps.at(-1)?.step ?? {
      seed: random.bits(),
      atMs: EPOCH_MS,
    };
    const caller = this.#context.getCaller(near.seed);
    const operation = random.pick(service.reads as [string, ...string[]]);
    const generated = args.draw(operation, 'n0', {
      random,
      pool,
      scope: getScope(0),
    });
    if (generated === undefined) return;
    const step: Step = {
      ...near,
      caller,
      operation,
      args: generated.args,
      serial: 0,
    };
    const [first, second] = [site.run(step, true, generated), site.run(step)];
    this.#noteResult({ step, result: first });
    this.#checkDeterminism({ past: [], here: step, there: [], place: 0 }, [first], [second]);
  }

  #noteResult({ step: { operation }, result }: GeneratedStep): void {
    const { failure, thrown, hasChangedArgs, isMissingInput = false } = result;
    this.#stats.noteRun(operation, failure !== undefined && !isMissingInput);
    this.#noteChoice(operation, getChoice(result));
    if (hasChangedArgs)
      this.#stats.noteGenerator(operation, {
        fault: 'it changes its arguments',
      });
    if (failure === undefined) return;
    const problem = thrown === undefined ? failure.message : `it threw ${formatThrown(thrown)}`;
    this.#stats.noteGenerator(operation, { problem });
  }

  /**
   * Records a choice, even if it is not tried beside another operation, so that it gets a verdict.
   */
  #noteChoice(operation: string, choice: Choice | undefined): void {
    if (choice === undefined) return;
    if (this.#context.service.writes.includes(operation))
      this.#stats.getTrial(choice.shadow, operation);
    else
      this.#stats.noteGenerator(operation, {
        fault: 'a read, it has chosen a shadow operation, which no site applies',
      });
  }

  /**
   * Runs a generator twice, to find one that depends on anything other than its input and the
   * state.
   */
  #checkDeterminism(
    { past, here, there }: Interleaving,
    first: readonly StepResult[],
    second: readonly StepResult[],
  ): void {
    for (const [at, { operation }] of [...past, here, ...there].entries()) {
      const [before, after] = [first[at], second[at]];
      if (before === undefined || after === undefined || isSameOutcome(before, after)) continue;
      this.#stats.noteGenerator(operation, {
        fault: 'run twice on the same, it does not do the same',
      });
    }
  }
}

function readAnalysisOptions(
  service: unknown,
  options: ColorAnalysisOptions,
): ResolvedOptions<ColorAnalysisOptions, typeof ANALYSIS_OPTIONS> {
  requireService(service, ANALYSIS_CALL);
  const resolved = readOptions(options, { call: ANALYSIS_CALL }, ANALYSIS_OPTIONS);
  const max = getMaxFirstSeed(resolved.runs);
  checkOption(resolved.seed, 'seed', required(integer({ min: 0, max })));
  return resolved;
}

function isSameOutcome(
  { outcome: a, failure: c }: StepResult,
  { outcome: b, failure: d }: StepResult,
): boolean {
  const parts = (executed: typeof a): unknown =>
    executed && [
      executed.choice?.shadow,
      executed.choice?.effects,
      executed.reply,
      executed.domainError?.domain,
      executed.isLocal,
      executed.reads,
    ];
  return structurallyEqual(parts(a), parts(b)) && c?.code === d?.code;
}
