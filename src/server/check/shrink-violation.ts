/** Simplifies a run that shows a violation, so that only what the violation needs is left. */
import { isSameViolation, runInterleaving, type Violation } from './run-interleaving.ts';
import type { Interleaving, Step } from './interleaving.ts';
import type { SearchContext } from './search-context.ts';
import { isScalar, type Scalar } from '../service/records/read-range.ts';

const MAX_RUNS = 2000;
const SHORT_NAMES = ['a', 'b', 'c', 'd'] as const;

/**
 * Leaves out and simplifies the parts of a run that the violation does not need, until `isOver`
 * returns true.
 */
export function shrinkViolation(
  workshop: SearchContext,
  found: Violation,
  isOver: () => boolean = () => false,
): Violation {
  let best = found;
  let runs = 0;
  const isEnded = (): boolean => runs >= MAX_RUNS || isOver();
  const tries = (interleaving: Interleaving): boolean => {
    if (isEnded()) return false;
    if (
      !getSteps(interleaving).every(({ operation, args }) => workshop.args.accepts(operation, args))
    )
      return false;
    runs += 1;
    const { violation } = runInterleaving(workshop, interleaving);
    if (violation === undefined || !isSameViolation(best, violation)) return false;
    best = violation;
    return true;
  };
  const triesAny = (candidates: Iterable<Interleaving>): boolean => {
    for (const candidate of candidates) {
      if (tries(candidate)) return true;
      if (isEnded()) return false;
    }
    return false;
  };
  const isSimpler = (): boolean =>
    [listShorter, listWithReplacedScalars, listPlainer, listShorterWithReplacedScalars].some(
      (candidates) => triesAny(candidates(best.interleaving)),
    );
  while (isSimpler());
  return best;
}

const getSteps = ({ past, here, there }: Interleaving): readonly Step[] => [
  ...past,
  here,
  ...there,
];

function* listShorter(interleaving: Interleaving): Generator<Interleaving> {
  const { past, there, place } = interleaving;
  for (const at of past.keys()) yield { ...interleaving, past: past.toSpliced(at, 1) };
  if (there.length > 1) {
    for (const at of there.keys())
      yield {
        ...interleaving,
        there: there.toSpliced(at, 1),
        place: Math.min(place, 2),
      };
  }
  if (place > 0) yield { ...interleaving, place: 0 };
}

function* listPlainer(interleaving: Interleaving): Generator<Interleaving> {
  for (const step of getSteps(interleaving)) {
    for (const args of listSimplerValues(step.args))
      yield mapSteps(interleaving, (item) => (item === step ? { ...item, args } : item));
  }
}

/**
 * Yields runs in which one text or number is replaced everywhere by the same short name or smaller
 * number. A replacement is never undone by a later one, so this ends.
 */
function* listWithReplacedScalars(interleaving: Interleaving): Generator<Interleaving> {
  for (const from of collectScalars(getSteps(interleaving).map(({ args }) => args))) {
    for (const to of typeof from === 'number' ? listSimplerNumbers(from) : listShorterNames(from)) {
      yield mapSteps(interleaving, (step) => ({
        ...step,
        args: replaceScalar(step.args, from, to),
      }));
    }
  }
}

/**
 * Yields runs with one step less, and with one number replaced by a smaller one. For example,
 * without the deposit, the withdrawal has to be smaller too.
 */
function* listShorterWithReplacedScalars(interleaving: Interleaving): Generator<Interleaving> {
  for (const candidate of listShorter(interleaving)) yield* listWithReplacedScalars(candidate);
}

function listShorterNames(text: string): readonly string[] {
  return SHORT_NAMES.filter((name) => text.length !== 1 || name < text);
}

function mapSteps(interleaving: Interleaving, change: (step: Step) => Step): Interleaving {
  const { past, here, there } = interleaving;
  return {
    ...interleaving,
    past: past.map(change),
    here: change(here),
    there: there.map(change),
  };
}

/**
 * Yields values that differ from this one in one place and are simpler there, the simplest first.
 */
export function* listSimplerValues(value: unknown): Generator<unknown> {
  if (typeof value === 'number') {
    yield* listSimplerNumbers(value);
  } else if (value === true) {
    yield false;
  } else if (Array.isArray(value)) {
    for (const at of value.keys()) yield value.toSpliced(at, 1);
    for (const [at, item] of value.entries())
      for (const simpler of listSimplerValues(item)) yield value.with(at, simpler);
  } else if (
    typeof value === 'object' &&
    value !== null &&
    Object.getPrototypeOf(value) === Object.prototype
  ) {
    const entries = Object.entries(value);
    for (const [name] of entries)
      yield Object.fromEntries(entries.filter(([entry]) => entry !== name));
    for (const [name, element] of entries)
      for (const simpler of listSimplerValues(element)) yield { ...value, [name]: simpler };
  }
}

/** Returns all texts and numbers in a value, each once. */
export function collectScalars(
  value: unknown,
  found: Set<Scalar> = new Set(),
): ReadonlySet<Scalar> {
  if (isScalar(value)) found.add(value);
  else if (typeof value === 'object' && value !== null)
    for (const item of Object.values(value)) collectScalars(item, found);
  return found;
}

/** Returns numbers that are simpler than this one, the simplest first. */
function listSimplerNumbers(value: number): readonly number[] {
  const candidates = new Set([0, 1, 2, -1, Math.trunc(value / 2), value - Math.sign(value)]);
  return [...candidates].filter((item) => Math.abs(item) < Math.abs(value));
}

/** Returns the value with one text or number replaced everywhere. */
export function replaceScalar(value: unknown, from: Scalar, to: Scalar): unknown {
  if (isScalar(value)) return value === from ? to : value;
  if (Array.isArray(value)) return value.map((item) => replaceScalar(item, from, to));
  if (
    typeof value !== 'object' ||
    value === null ||
    Object.getPrototypeOf(value) !== Object.prototype
  )
    return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, item]) => [name, replaceScalar(item, from, to)]),
  );
}
