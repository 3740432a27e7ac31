/** Verdicts, out of what the runs have shown. */
import type { JudgedService } from './judged-service.ts';
import type { CalledOperation, Counterexample, GeneratorNote, LabelTable, ShadowVerdict } from './report.ts';
import { storyOf } from './story.ts';
import type { Step } from './step.ts';
import type { Found, GeneratorTrial, Tally, Trial } from './tally.ts';

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
