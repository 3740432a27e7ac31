/** What labelling a service has given: verdicts out of what the runs have shown, with stories, as plain data. */
import type { Colour } from '../records/effect.ts';
import type { JudgedService } from './judged-service.ts';
import type { Step } from './step.ts';
import type { Found, GeneratorTrial, Tally, Trial } from './tally.ts';
import type { Breach } from './run-meeting.ts';
import { shown, shownFields } from './values/shown.ts';
import type { Broken, ShownRow } from './site.ts';

/**
 * `blue`: no run has shown anything against it. `red`: it has to be, and is declared so. `unsafe`: it is declared blue and
 * must not be, or is wrong at one site already. `undecided`: it was not tried.
 */
export type Verdict = 'blue' | 'red' | 'unsafe' | 'undecided';

/** An operation, as a client asks for it. */
export interface CalledOperation {
  readonly operation: string;
  readonly args: unknown;
}

/** What shows that a shadow operation must not be blue, or not be at all: the simplest that was found. */
export interface Counterexample {
  /** Told line by line. */
  readonly story: readonly string[];
  /** What both sites have seen. */
  readonly past: readonly CalledOperation[];
  /** What the first site then does. */
  readonly here: CalledOperation;
  /** What the second does meanwhile. */
  readonly there: readonly CalledOperation[];
  /** The seed of a run that shows it. */
  readonly seed: number;
}

/** Of one shadow operation, where one operation chooses it. */
export interface ShadowVerdict {
  readonly name: string;
  /** The operation of the contract; `null` where no run has chosen the shadow operation. */
  readonly operation: string | null;
  readonly declared: Colour;
  readonly verdict: Verdict;
  readonly reason: string;
  readonly counterexample?: Counterexample;
}

/** What was found of a generator, beside its shadow operations. */
export interface GeneratorNote {
  readonly operation: string;
  /** Whether it is wrong in itself: others could only not be tried, or failed with what was drawn for them. */
  readonly isFault: boolean;
  readonly problem: string;
  readonly times: number;
}

/** The numbers of RedBlue's Table 2 (OSDI 2012): colours are those that are declared. */
export interface LabelTable {
  /** What users of the application ask for, where its module says so. */
  readonly requests: number | null;
  /** Operations of the contract. */
  readonly transactions: number;
  readonly readOnly: number;
  readonly updates: number;
  /** A read changes nothing: its shadow operation does nothing. */
  readonly shadowBlueNoop: number;
  readonly shadowBlue: number;
  readonly shadowRed: number;
}

/** All of it. */
export interface LabelReport {
  readonly service: string;
  /** So many were made. */
  readonly runs: number;
  readonly seed: number;
  readonly shadows: readonly ShadowVerdict[];
  readonly generators: readonly GeneratorNote[];
  readonly table: LabelTable;
}

/** What is noted of an operation for which nothing could be drawn. */
export const UNDRAWN = 'no arguments were drawn that its contract takes';

/** Whether the service is wrong as it is declared. */
export function isRefused({ shadows, generators }: LabelReport): boolean {
  return shadows.some(({ verdict }) => verdict === 'unsafe') || generators.some(({ isFault }) => isFault);
}

const HERE = 'Ireland';
const THERE = 'Virginia';

/** The lines of the story. */
export function storyOf(breach: Breach): readonly string[] {
  const { past, here, there } = breach.meeting;
  const lines = past.length === 0 ? [] : [`At first: ${calls(past)}.`];
  if (there.length === 0) lines.push(`${HERE}, where all of this is known: ${calls([here])}.`);
  else lines.push(`${HERE}: ${calls([here])}.`, `${THERE}, which has not seen it: ${calls(there)}.`);
  if (breach.kind !== 'alone' && breach.takes) lines.push('Who takes holds the rights to it.');
  return [...lines, endOf(breach)];
}

/** What does not hold, in a sentence. */
export function brokenText({ invariant, isOfRow, rows, error }: Broken): string {
  const [row] = rows;
  if (isOfRow && row !== undefined) {
    return `Then ${nameOfRow(row)} breaks '${invariant}': ${error === undefined ? shownFields(row.fields) : `it ${error}`}.`;
  }
  return `Then '${invariant}' does not hold: ${error === undefined ? rows.map(rowText).join('; ') : `it ${error}`}.`;
}

function endOf(breach: Breach): string {
  if (breach.kind !== 'differs') return brokenText(breach.broken);
  const { here, there } = breach.difference;
  const [a, b] = [here, there].map(({ fields }) => (isEmpty(fields) ? 'no such row' : shown(fields)));
  return `Then the sites do not agree on ${nameOfRow(here)}: ${HERE} has ${a}, ${THERE} has ${b}.`;
}

/** A row and what it says: `accounts 'a' with balance is 1`. */
function rowText(row: ShownRow): string {
  return isEmpty(row.fields) ? `no ${nameOfRow(row)}` : `${nameOfRow(row)} with ${shownFields(row.fields)}`;
}

const nameOfRow = ({ table, key }: ShownRow): string => `${table} ${shown(key)}`;

const isEmpty = (fields: object): boolean => Object.keys(fields).length === 0;

const calls = (steps: readonly Step[]): string => steps.map(callText).join('; then ');

/** A call as a client writes it. */
export function callText({ operation, args }: Pick<Step, 'operation' | 'args'>): string {
  return args === undefined ? operation : `${operation} ${shown(args)}`;
}

/** One for each shadow operation and each operation that has chosen it, in the order of the service. */
export function verdictsOf(judged: JudgedService, tally: Tally): readonly ShadowVerdict[] {
  return judged.shadows.flatMap((shadow): readonly ShadowVerdict[] => {
    const trials = tally.trials.filter((trial) => trial.shadow === shadow);
    if (trials.length === 0) return [untried(judged, shadow, tally)];
    return judged.updates.flatMap((operation) =>
      trials.filter((trial) => trial.operation === operation).map((trial) => verdictOf(judged, trial, tally)),
    );
  });
}

function untried(judged: JudgedService, name: string, tally: Tally): ShadowVerdict {
  const reason = invalidFirst(tally) ?? 'no run has chosen it';
  return { name, operation: null, declared: judged.declared(name, undefined), verdict: 'undecided', reason };
}

/** What has to be said where runs may have come to no valid state. */
function invalidFirst({ brokenAtFirst }: Tally): string | undefined {
  if (brokenAtFirst === undefined) return undefined;
  const { invariant, error } = brokenAtFirst;
  const instead = error === undefined ? '' : `: it ${error}`;
  return `no run has chosen it in a valid state: of empty tables '${invariant}' does not hold${instead}`;
}

function verdictOf(judged: JudgedService, trial: Trial, tally: Tally): ShadowVerdict {
  const { shadow: name, operation, alone, together, redByItself } = trial;
  const declared = judged.declared(name, operation);
  const found = { name, operation, declared };
  if (alone !== undefined) {
    const reason = 'makes a valid state invalid by itself, at one site';
    return { ...found, verdict: 'unsafe', reason, counterexample: counterexampleOf(alone) };
  }
  const mustBeRed = declared === 'red' ? 'red' : 'unsafe';
  if (redByItself !== undefined) return { ...found, verdict: mustBeRed, reason: redByItself };
  if (together !== undefined) {
    const commutes = together.breach.kind !== 'differs';
    const reason = commutes
      ? 'breaks an invariant beside what another site does'
      : 'does not commute with what another site does';
    return { ...found, verdict: mustBeRed, reason, counterexample: counterexampleOf(together) };
  }
  if (trial.tried === 0) {
    return { ...found, verdict: 'undecided', reason: invalidFirst(tally) ?? 'no run has tried it beside another' };
  }
  const times = `in ${trial.tried} tries beside ${besideText(judged, trial)}`;
  return { ...found, verdict: 'blue', reason: `no counterexample ${times}` };
}

/** How often it was tried beside which others, and beside which never: of these nothing was shown. */
function besideText({ shadows }: JudgedService, { beside }: Trial): string {
  const tried = [...beside].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([shadow, times]) => `${shadow} (${times})`);
  const never = shadows.filter((shadow) => !beside.has(shadow)).toSorted();
  return `${tried.join(', ')}${never.length === 0 ? '' : `, never beside ${never.join(', ')}`}`;
}

function counterexampleOf({ breach, seed }: Found): Counterexample {
  const { past, here, there } = breach.meeting;
  return { story: storyOf(breach), past: past.map(callOf), here: callOf(here), there: there.map(callOf), seed };
}

const callOf = ({ operation, args }: Step): CalledOperation => ({ operation, args });

/** The updates that have chosen nothing in any run: no verdict speaks of them, nor what is told of those never run. */
export function silentOf({ updates }: JudgedService, tally: Tally): readonly GeneratorTrial[] {
  const spoken = spokenOf(tally);
  const neverRun = tally.generators.map(({ operation }) => operation).filter((each) => tally.timesRun(each) === 0);
  return updates
    .filter((operation) => !spoken.has(operation) && !neverRun.includes(operation))
    .map((operation) => {
      return { operation, trouble: 'it has chosen no shadow operation', times: tally.timesRun(operation) };
    });
}

/**
 * Generators that have failed in each run. Where another update was not run, or has come to nothing, they may lack what
 * that would have brought about.
 */
export function failingIn({ updates, reads }: JudgedService, tally: Tally): readonly GeneratorTrial[] {
  const spoken = spokenOf(tally);
  const isMissing = (update: string): boolean => !spoken.has(update) && !tally.hasAlwaysFailed(update);
  if (updates.some(isMissing)) return [];
  return [...updates, ...reads]
    .filter((operation) => tally.hasAlwaysFailed(operation))
    .map((operation) => ({ operation, fault: FAILS, times: tally.timesRun(operation) }));
}

/** Operations that have chosen something. */
function spokenOf({ trials }: Tally): ReadonlySet<string> {
  return new Set(trials.map(({ operation }) => operation));
}

const FAILS =
  'it failed in each run: declare in its contract the errors that it refuses with, or say by arbitraries what it takes';

/** What was found of generators, faults first. */
export function notesOf(trials: readonly GeneratorTrial[]): readonly GeneratorNote[] {
  return trials
    .map(({ operation, fault, trouble = '', times }) => {
      return { operation, isFault: fault !== undefined, problem: fault ?? trouble, times };
    })
    .toSorted((a, b) => Number(b.isFault) - Number(a.isFault));
}

/** The table of the service as it is declared: red is too what only operations choose that are always red. */
export function tableOf(
  judged: JudgedService,
  verdicts: readonly ShadowVerdict[],
  requests: number | undefined,
): LabelTable {
  const { updates, reads, shadows } = judged;
  const isRed = (shadow: string): boolean =>
    verdicts.filter(({ name }) => name === shadow).every(({ declared }) => declared === 'red');
  const red = shadows.filter(isRed).length;
  return {
    requests: requests ?? null,
    transactions: updates.length + reads.length,
    readOnly: reads.length,
    updates: updates.length,
    shadowBlueNoop: reads.length,
    shadowBlue: shadows.length - red,
    shadowRed: red,
  };
}
