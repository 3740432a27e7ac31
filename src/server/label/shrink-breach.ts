/** From a run that shows something to a simpler one that shows the same: it tells what that needs, and what it does not. */
import { isSameBreach, runMeeting, type Breach } from './run-meeting.ts';
import type { Meeting, Step } from './step.ts';
import type { Workshop } from './workshop.ts';
import { isScalar, type Scalar } from '../records/key-range.ts';

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

/** Values that differ from this one in one place and are simpler there, the simplest first. */
export function* simplerValues(value: unknown): Generator<unknown> {
  if (typeof value === 'number') {
    yield* simplerNumbers(value);
  } else if (value === true) {
    yield false;
  } else if (Array.isArray(value)) {
    for (const at of value.keys()) yield value.toSpliced(at, 1);
    for (const [at, each] of value.entries()) for (const simpler of simplerValues(each)) yield value.with(at, simpler);
  } else if (typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === Object.prototype) {
    const entries = Object.entries(value);
    for (const [name] of entries) yield Object.fromEntries(entries.filter(([each]) => each !== name));
    for (const [name, each] of entries) for (const simpler of simplerValues(each)) yield { ...value, [name]: simpler };
  }
}

/** All texts and numbers in a value, each once. */
export function scalarsIn(value: unknown, found: Set<Scalar> = new Set()): ReadonlySet<Scalar> {
  if (isScalar(value)) found.add(value);
  else if (typeof value === 'object' && value !== null) for (const each of Object.values(value)) scalarsIn(each, found);
  return found;
}

/** What is simpler than a number, the simplest first. */
function simplerNumbers(value: number): readonly number[] {
  const candidates = new Set([0, 1, 2, -1, Math.trunc(value / 2), value - Math.sign(value)]);
  return [...candidates].filter((each) => Math.abs(each) < Math.abs(value));
}

/** The same value with another text or number wherever there is this one. */
export function replaced(value: unknown, from: Scalar, to: Scalar): unknown {
  if (isScalar(value)) return value === from ? to : value;
  if (Array.isArray(value)) return value.map((each) => replaced(each, from, to));
  if (typeof value !== 'object' || value === null || Object.getPrototypeOf(value) !== Object.prototype) return value;
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, replaced(each, from, to)]));
}
