/**
 * Per key: an acknowledged value is read, or a later one. A value that failed as not made is never
 * read. A strong view never goes back behind an earlier one. One clock stamps the writes of a
 * history, so the order in which Cassandra keeps them is known, and linearizability needs no
 * search.
 */
import type { Call } from '../../history.ts';
import type { Promised } from './key-guarantees.ts';
import {
  INITIALLY,
  registersOf,
  surelyBefore,
  type Register,
  type Sight,
  type Write,
} from './build-registers.ts';

export function registerFaults(
  calls: readonly Call[],
  { isRepaired }: Pick<Promised, 'isRepaired'>,
): string[] {
  return [...registersOf(calls).values()].flatMap((register) => [
    ...untrueSights(register),
    ...lostWrites(register),
    ...(isRepaired(register.key) ? stepsBack(register) : []),
  ]);
}

/** Values that no call wrote, that were not written yet, or whose write failed as not made. */
function untrueSights(register: Register): string[] {
  return register.sights.flatMap((sight) => {
    if (sight.value === null) return [];
    const write = getTaggedWrite(register, sight);
    if (write === undefined) return [`${describeSight(register, sight)}, which no call wrote`];
    if (write.reported === 'not made')
      return [
        `${describeSight(register, sight)}, reported as "${formatOutcome(write)}" to ${by(write)}`,
      ];
    return write.fromMs > sight.atMs
      ? [`${describeSight(register, sight)}, before ${by(write)} began`]
      : [];
  });
}

/** Strong views without what was acknowledged before they were asked for. */
function lostWrites(register: Register): string[] {
  return strong(register).flatMap((sight) => {
    const missing = explanationsOf(register, sight).map((write) =>
      register.writes.find((other) => other.doneMs <= sight.beginMs && surelyBefore(write, other)),
    );
    const [item] = missing;
    if (item === undefined || missing.includes(undefined)) return [];
    return [`${describeSight(register, sight)}, without ${by(item)}`];
  });
}

/** Strong views behind an earlier one. */
function stepsBack(register: Register): string[] {
  const sights = strong(register);
  return sights.flatMap((later) => {
    const shownNow = explanationsOf(register, later);
    const before = sights.find(
      (earlier) => earlier.atMs <= later.beginMs && isBack(register, earlier, shownNow),
    );
    return before === undefined
      ? []
      : [`${describeSight(register, later)}, after ${shown(before)} at ${ms(before.atMs)} ms`];
  });
}

function isBack(register: Register, earlier: Sight, shownNow: readonly Write[]): boolean {
  const seen = getTaggedWrite(register, earlier);
  // It was gone: whatever was there before that has been deleted.
  if (earlier.value === null)
    return shownNow.some(({ value, doneMs }) => value !== null && doneMs <= earlier.beginMs);
  return (
    seen !== undefined &&
    shownNow.length > 0 &&
    shownNow.every((write) => surelyBefore(write, seen))
  );
}

/**
 * Whose write a view may show: of a value its only one; of nothing any deletion, or that there was
 * nothing at first.
 */
export function explanationsOf(register: Register, sight: Sight): Write[] {
  if (sight.value !== null) {
    const write = getTaggedWrite(register, sight);
    return write === undefined ? [] : [write];
  }
  const gone = register.writes.filter(
    ({ value, reported: fate, fromMs }) =>
      value === null && fate !== 'not made' && fromMs <= sight.atMs,
  );
  return [INITIALLY, ...gone];
}

export function getTaggedWrite({ writes }: Register, { value }: Sight): Write | undefined {
  return value === null ? undefined : writes.find((write) => write.value === value);
}

export function describeSight({ key }: Register, sight: Sight): string {
  return `${key}: ${sight.call.session} was shown ${shown(sight)} at ${ms(sight.atMs)} ms, ${sight.level}`;
}

function strong({ sights }: Register): Sight[] {
  return sights.filter(({ level }) => level === 'strong');
}

function shown({ value }: Sight): string {
  return value === null ? 'nothing' : `"${value}"`;
}

function formatOutcome({ call }: Write): string {
  return call.outcome === 'success' ? 'not applied' : (call.outcome ?? '');
}

function by({ call, value }: Write): string {
  const description = value === null ? '' : ` "${value}"`;
  const until = call.endMs === undefined ? '' : ` to ${ms(call.endMs)}`;
  return `${call.kind}${description} of ${call.session} (${ms(call.beginMs)}${until} ms: ${call.outcome ?? 'in flight'})`;
}

function ms(time: number): string {
  return time.toFixed(1);
}
