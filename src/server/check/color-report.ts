/** The report of an analysis: verdicts from the runs, with explanations, as plain data. */
import type { OperationCall, Step } from './interleaving.ts';
import type { Color } from '../service/records/effect.ts';
import type { AnalyzedService } from './analyzed-service.ts';
import { getWrittenFields, type ChosenStep } from './find-restored-row.ts';
import type {
  RestoredRows,
  FoundViolation,
  GeneratorTrial,
  TrialStats,
  Trial,
} from './trial-stats.ts';
import type { Violation } from './run-interleaving.ts';
import { formatValue, formatFields } from './values/format-values.ts';
import type { InvariantViolation, RowValue } from './analysis-site.ts';

/**
 * `blue`: no run has found a fault. `red`: it must be red, and is declared red. `unsafe`: it is
 * declared blue and must not be, or is wrong at one site already. `undecided`: no run has tried it.
 */
export type Verdict = 'blue' | 'red' | 'unsafe' | 'undecided';

/** An operation that a client submits. */
export interface CalledOperation {
  readonly operation: string;
  readonly args: unknown;
  /** Name of the user that it is executed for, if its generator reads `principal`. */
  readonly principal?: string;
}

/**
 * The simplest interleaving found that shows why a shadow operation must not be blue, or is wrong.
 */
export interface Counterexample {
  /** The explanation, line by line. */
  readonly explanation: readonly string[];
  /** Operations that both sites have seen. */
  readonly past: readonly CalledOperation[];
  /** The operation at the first site after that past. */
  readonly here: CalledOperation;
  /** Concurrent operations at the second site. */
  readonly there: readonly CalledOperation[];
  /** Seed of a run that shows it. */
  readonly seed: number;
}

/** Verdict on one shadow operation, for one operation whose generator chooses it. */
export interface ShadowVerdict {
  readonly name: string;
  /** The operation of the contract, or `null` if no run has chosen the shadow operation. */
  readonly operation: string | null;
  readonly declaredColor: Color;
  readonly verdict: Verdict;
  readonly reason: string;
  readonly counterexample?: Counterexample;
}

/** A problem of a generator, apart from its shadow operations. */
export interface GeneratorFinding {
  readonly operation: string;
  /**
   * Whether the generator itself is wrong. Otherwise it could not be tried, or failed with the
   * drawn arguments.
   */
  readonly isFault: boolean;
  readonly problem: string;
  readonly times: number;
}

/** A blue write to a row that another operation removes: it brings the row back in part. */
export interface ColorWarning {
  /** The shadow operation that writes to the row, and the operation that chose it. */
  readonly shadow: string;
  readonly operation: string;
  /** The shadow operation that removes the row. */
  readonly remover: string;
  readonly table: string;
  /** Fields that the row had before the removal, and has lost. */
  readonly lostFields: readonly string[];
  /** Describes the pair, the state of the row, and the possible fixes. */
  readonly message: string;
  readonly times: number;
  /** Seed of a run that shows it. */
  readonly seed: number;
}

/** The numbers of RedBlue's Table 2 (OSDI 2012), with the declared colors. */
export interface ColorTable {
  /** Number of user requests of the application, or `null` if it is unknown. */
  readonly requests: number | null;
  /** Number of operations of the contract. */
  readonly transactions: number;
  readonly readOnly: number;
  readonly writes: number;
  /** Number of reads: their shadow operation does nothing. */
  readonly shadowBlueNoop: number;
  readonly shadowBlue: number;
  readonly shadowRed: number;
}

/** Result of `analyzeColors`. */
export interface ColorReport {
  readonly service: string;
  /** Number of completed runs. */
  readonly runs: number;
  readonly seed: number;
  readonly shadows: readonly ShadowVerdict[];
  /** Changes that violate no invariant, but are probably not intended. */
  readonly warnings: readonly ColorWarning[];
  readonly generators: readonly GeneratorFinding[];
  readonly table: ColorTable;
}

/** Returns whether the service is wrong as it is declared. */
export function hasViolations({ shadows, generators }: ColorReport): boolean {
  return (
    shadows.some(({ verdict }) => verdict === 'unsafe') || generators.some(({ isFault }) => isFault)
  );
}

const HERE_NAME = 'Ireland';
const THERE_NAME = 'Virginia';

export function formatCounterexample(violation: Violation): readonly string[] {
  const { past, here, there } = violation.interleaving;
  const lines = past.length === 0 ? [] : [`At first: ${formatCalls(past)}.`];
  if (there.length === 0)
    lines.push(`${HERE_NAME}, where all of this is known: ${formatCalls([here])}.`);
  else
    lines.push(
      `${HERE_NAME}: ${formatCalls([here])}.`,
      `${THERE_NAME}, which has not seen it: ${formatCalls(there)}.`,
    );
  if (violation.kind !== 'alone' && violation.takes)
    lines.push('Who takes holds the rights to it.');
  return [...lines, formatEnding(violation)];
}

/** Describes a broken invariant in a sentence. */
export function formatBrokenInvariant({
  invariant,
  isOfRow,
  rows,
  error,
}: InvariantViolation): string {
  const [row] = rows;
  if (isOfRow && row !== undefined) {
    return `Then ${formatRowName(row)} breaks '${invariant}': ${error === undefined ? formatFields(row.fields) : `it ${error}`}.`;
  }
  return `Then '${invariant}' does not hold: ${error === undefined ? rows.map(formatRow).join('; ') : `it ${error}`}.`;
}

function formatEnding(violation: Violation): string {
  if (violation.kind !== 'differs') return formatBrokenInvariant(violation.broken);
  const { here, there } = violation.difference;
  const [a, b] = [here, there].map(({ fields }) =>
    isEmpty(fields) ? 'no such row' : formatValue(fields),
  );
  return `Then the sites do not agree on ${formatRowName(here)}: ${HERE_NAME} has ${a}, ${THERE_NAME} has ${b}.`;
}

/** Formats a row with its fields: `accounts 'a' with balance is 1`. */
function formatRow(row: RowValue): string {
  return isEmpty(row.fields)
    ? `no ${formatRowName(row)}`
    : `${formatRowName(row)} with ${formatFields(row.fields)}`;
}

const formatRowName = ({ table, key }: RowValue): string => `${table} ${formatValue(key)}`;

const isEmpty = (fields: object): boolean => Object.keys(fields).length === 0;

const formatCalls = (steps: readonly Step[]): string => steps.map(formatCall).join('; then ');

export function formatCall({ operation, args, caller }: OperationCall): string {
  const call = args === undefined ? operation : `${operation} ${formatValue(args)}`;
  return caller?.wasRead === true ? `${call} for ${formatValue(caller.id)}` : call;
}

/**
 * Creates a verdict for each shadow operation and each operation that chose it, in the order of the
 * service.
 */
export function createVerdicts(
  judged: AnalyzedService,
  stats: TrialStats,
): readonly ShadowVerdict[] {
  return judged.shadows.flatMap((shadow): readonly ShadowVerdict[] => {
    const trials = stats.trials.filter((trial) => trial.shadow === shadow);
    if (trials.length === 0) {
      const declaredColor = judged.getDeclaredColor(shadow, undefined);
      const reason = describeInitialViolation(stats) ?? 'no run has chosen it';
      return [
        {
          name: shadow,
          operation: null,
          declaredColor,
          verdict: 'undecided',
          reason,
        },
      ];
    }
    return judged.writes.flatMap((operation) =>
      trials
        .filter((trial) => trial.operation === operation)
        .map((trial) => createVerdict(judged, trial, stats)),
    );
  });
}

/** Describes that the initial state is invalid: runs may never have reached a valid one. */
function describeInitialViolation({ initialViolation }: TrialStats): string | undefined {
  if (initialViolation === undefined) return undefined;
  const { invariant, error } = initialViolation;
  const instead = error === undefined ? '' : `: it ${error}`;
  return `no run has chosen it in a valid state: of empty tables '${invariant}' does not hold${instead}`;
}

function createVerdict(judged: AnalyzedService, trial: Trial, stats: TrialStats): ShadowVerdict {
  const { shadow: name, operation, localViolation, concurrentViolation, inherentRedReason } = trial;
  const declaredColor = judged.getDeclaredColor(name, operation);
  const found = { name, operation, declaredColor };
  if (localViolation !== undefined) {
    const reason = 'makes a valid state invalid by itself, at one site';
    return {
      ...found,
      verdict: 'unsafe',
      reason,
      counterexample: createCounterexample(localViolation),
    };
  }
  const mustBeRed = declaredColor === 'red' ? 'red' : 'unsafe';
  if (inherentRedReason !== undefined)
    return { ...found, verdict: mustBeRed, reason: inherentRedReason };
  if (concurrentViolation !== undefined) {
    const commutes = concurrentViolation.violation.kind !== 'differs';
    const problem = commutes ? 'breaks an invariant beside' : 'does not commute with';
    const reason = `${problem} what another site does`;
    return {
      ...found,
      verdict: mustBeRed,
      reason,
      counterexample: createCounterexample(concurrentViolation),
    };
  }
  if (trial.trialCount === 0) {
    const reason = describeInitialViolation(stats) ?? 'no run has tried it beside another';
    return { ...found, verdict: 'undecided', reason };
  }
  const times = `in ${trial.trialCount} tries beside ${describePartners(judged, trial)}`;
  return { ...found, verdict: 'blue', reason: `no counterexample ${times}` };
}

/**
 * Describes how often the shadow operation was tried beside each other one. Names those beside
 * which it was never tried, because nothing is known about these pairs.
 */
function describePartners({ shadows }: AnalyzedService, { partnerCounts }: Trial): string {
  const tried = [...partnerCounts]
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([shadow, times]) => `${shadow} (${times})`);
  const never = shadows.filter((shadow) => !partnerCounts.has(shadow)).toSorted();
  return `${tried.join(', ')}${never.length === 0 ? '' : `, never beside ${never.join(', ')}`}`;
}

function createCounterexample({ violation, seed }: FoundViolation): Counterexample {
  const { past, here, there } = violation.interleaving;
  return {
    explanation: formatCounterexample(violation),
    past: past.map(toCalledOperation),
    here: toCalledOperation(here),
    there: there.map(toCalledOperation),
    seed,
  };
}

const toCalledOperation = ({ operation, args, caller }: Step): CalledOperation =>
  caller?.wasRead === true ? { operation, args, principal: caller.id } : { operation, args };

/**
 * Returns the writes that have run and never chose a shadow operation. Such writes have no verdict.
 */
export function findUnchosenWrites(
  { writes }: AnalyzedService,
  stats: TrialStats,
): readonly GeneratorTrial[] {
  const spoken = getChosenOperations(stats);
  const neverRun = stats.generators
    .map(({ operation }) => operation)
    .filter((item) => stats.getRunCount(item) === 0);
  return writes
    .filter((operation) => !spoken.has(operation) && !neverRun.includes(operation))
    .map((operation) => {
      return {
        operation,
        problem: 'it has chosen no shadow operation',
        times: stats.getRunCount(operation),
      };
    });
}

/**
 * Returns generators that failed in each run. Returns none if another write, which they may depend
 * on, chose nothing.
 */
export function findFailingGenerators(
  { writes, reads }: AnalyzedService,
  stats: TrialStats,
): readonly GeneratorTrial[] {
  const spoken = getChosenOperations(stats);
  const isMissing = (update: string): boolean =>
    !spoken.has(update) && !stats.hasAlwaysFailed(update);
  if (writes.some(isMissing)) return [];
  return [...writes, ...reads]
    .filter((operation) => stats.hasAlwaysFailed(operation))
    .map((operation) => ({
      operation,
      fault: ALWAYS_FAILS,
      times: stats.getRunCount(operation),
    }));
}

/** Returns the operations that have chosen something. */
function getChosenOperations({ trials }: TrialStats): ReadonlySet<string> {
  return new Set(trials.map(({ operation }) => operation));
}

const ALWAYS_FAILS =
  'it failed in each run: declare in its contract the errors that it refuses with, or say by arbitraries what it takes';

export function toColorWarning({ first, lostFields, times, seed }: RestoredRows): ColorWarning {
  const { writer, remover, table } = first;
  const lost = [...lostFields].toSorted();
  const written = getWrittenFields(first);
  const names = (fields: readonly string[]): string =>
    fields.map((field) => `${table}.${field}`).join(', ');
  const target = written.length === 0 ? `a row of ${table}` : names(written);
  const state =
    lost.length === 0 ? 'although it would not have been made' : `without ${names(lost)}`;
  const message =
    `'${writer.shadow}' (${writer.color}) writes ${target} while '${remover.shadow}' (${remover.color}) removes the row at another site: ` +
    `the row is back, ${state}. Write to a row of its own, in another table, or make ${getRedAdvice(writer, remover)} red.`;
  return {
    shadow: writer.shadow,
    operation: writer.step.operation,
    remover: remover.shadow,
    table,
    lostFields: lost,
    message,
    times,
    seed,
  };
}

/**
 * Advises to make both red: only of two red operations has the later one always seen the earlier
 * one.
 */
function getRedAdvice(writer: ChosenStep, remover: ChosenStep): string {
  if (writer.color === 'blue' && remover.color === 'blue') return 'both';
  return `'${writer.color === 'blue' ? writer.shadow : remover.shadow}'`;
}

/** Creates the findings about generators, faults first. */
export function createFindings(trials: readonly GeneratorTrial[]): readonly GeneratorFinding[] {
  return trials
    .map(({ operation, fault, problem = '', times }) => {
      return {
        operation,
        isFault: fault !== undefined,
        problem: fault ?? problem,
        times,
      };
    })
    .toSorted((a, b) => Number(b.isFault) - Number(a.isFault));
}

/**
 * Creates the table of the service as it is declared. A shadow operation counts as red if only
 * operations choose it that are always red.
 */
export function createTable(
  judged: AnalyzedService,
  verdicts: readonly ShadowVerdict[],
  requests: number | undefined,
): ColorTable {
  const { writes, reads, shadows } = judged;
  const isRed = (shadow: string): boolean =>
    verdicts
      .filter(({ name }) => name === shadow)
      .every(({ declaredColor }) => declaredColor === 'red');
  const red = shadows.filter(isRed).length;
  return {
    requests: requests ?? null,
    transactions: writes.length + reads.length,
    readOnly: reads.length,
    writes: writes.length,
    shadowBlueNoop: reads.length,
    shadowBlue: shadows.length - red,
    shadowRed: red,
  };
}
