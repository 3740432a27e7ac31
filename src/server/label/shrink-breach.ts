/** From a run that shows something to a simpler one that shows the same: it tells what that needs, and what it does not. */
import { isSameBreach, type Breach } from './breach.ts';
import { runMeeting } from './run-meeting.ts';
import { replaced, scalarsIn, simplerNumbers, simplerValues } from './values/simpler.ts';
import type { Meeting, Step } from './step.ts';
import type { Workshop } from './workshop.ts';

/** Runs that are made to find it. */
const RUNS_MAX = 2000;
const NAMES = ['a', 'b', 'c', 'd'] as const;

/**
 * Leaves out and makes smaller what the breach does not need. Asked before each run, `isOver` ends it with the simplest so
 * far: the runs of a service whose conditions read much would take minutes.
 */
export function shrinkBreach(workshop: Workshop, found: Breach, isOver: () => boolean = () => false): Breach {
  let best = found;
  let runs = 0;
  const isEnded = (): boolean => runs >= RUNS_MAX || isOver();
  const tries = (meeting: Meeting): boolean => {
    if (isEnded()) return false;
    if (!stepsOf(meeting).every(({ operation, args }) => workshop.args.takes(operation, args))) return false;
    runs += 1;
    const { breach } = runMeeting(workshop, meeting);
    if (breach === undefined || !isSameBreach(best, breach)) return false;
    best = breach;
    return true;
  };
  const triesAny = (candidates: Iterable<Meeting>): boolean => {
    for (const candidate of candidates) {
      if (tries(candidate)) return true;
      if (isEnded()) return false;
    }
    return false;
  };
  const isSimpler = (): boolean =>
    [shorter, withOthers, plainer, shorterWithOthers].some((candidates) => triesAny(candidates(best.meeting)));
  while (isSimpler());
  return best;
}

const stepsOf = ({ past, here, there }: Meeting): readonly Step[] => [...past, here, ...there];

function* shorter(meeting: Meeting): Generator<Meeting> {
  const { past, there, place } = meeting;
  for (const at of past.keys()) yield { ...meeting, past: past.toSpliced(at, 1) };
  if (there.length > 1) {
    for (const at of there.keys()) yield { ...meeting, there: there.toSpliced(at, 1), place: Math.min(place, 2) };
  }
  if (place > 0) yield { ...meeting, place: 0 };
}

function* plainer(meeting: Meeting): Generator<Meeting> {
  for (const step of stepsOf(meeting)) {
    for (const args of simplerValues(step.args))
      yield withSteps(meeting, (each) => (each === step ? { ...each, args } : each));
  }
}

/** The same short name or smaller number wherever a text or a number stands; none is changed back. */
function* withOthers(meeting: Meeting): Generator<Meeting> {
  for (const from of scalarsIn(stepsOf(meeting).map(({ args }) => args))) {
    for (const to of typeof from === 'number' ? simplerNumbers(from) : shorterNames(from)) {
      yield withSteps(meeting, (step) => ({ ...step, args: replaced(step.args, from, to) }));
    }
  }
}

/** One step less, where another then asks for less: without the deposit the withdrawal has to be smaller too. */
function* shorterWithOthers(meeting: Meeting): Generator<Meeting> {
  for (const candidate of shorter(meeting)) yield* withOthers(candidate);
}

function shorterNames(text: string): readonly string[] {
  return NAMES.filter((name) => text.length !== 1 || name < text);
}

function withSteps(meeting: Meeting, change: (step: Step) => Step): Meeting {
  const { past, here, there } = meeting;
  return { ...meeting, past: past.map(change), here: change(here), there: there.map(change) };
}
