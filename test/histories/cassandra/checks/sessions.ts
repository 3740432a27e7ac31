/**
 * A session sees its own puts and never goes back, from weak view to strong and from call to call:
 * what it had seen when a read began, that read must not be behind of.
 */
import type { Call } from '../../history.ts';
import { getInput } from '../inputs.ts';
import { describeSight, explanationsOf, getTaggedWrite } from './registers.ts';
import {
  registersOf,
  surelyBefore,
  type Register,
  type Sight,
  type Write,
} from './build-registers.ts';

/** Whose writes a session knows of by their times; those of statements it does not. */
const VERSIONED: ReadonlySet<string> = new Set(['get', 'getMany', 'put']);

interface Seen {
  /** Known to the session from then on. */
  readonly atMs: number;
  readonly call: Call;
  /** What it saw; undefined where the key was surely gone. */
  readonly write: Write | undefined;
}

export function sessionFaults(calls: readonly Call[]): string[] {
  return [...registersOf(calls).values()].flatMap(faultsOf);
}

function faultsOf(register: Register): string[] {
  const getSeen = new Map<string, Seen[]>();
  const see = (description: Seen): void => {
    getSeen.set(description.call.session, [
      ...(getSeen.get(description.call.session) ?? []),
      description,
    ]);
  };
  for (const write of register.writes.filter(({ call }) => isKept(call))) {
    if (write.value !== null && write.doneMs < Infinity)
      see({ atMs: write.doneMs, call: write.call, write });
  }
  const sights = register.sights.filter(({ call }) => isKept(call));
  for (const sight of sights) {
    const { atMs, call } = sight;
    const write = getTaggedWrite(register, sight);
    if (write !== undefined || sight.level === 'strong') see({ atMs, call, write });
  }
  return sights.flatMap((sight) => {
    const before = (getSeen.get(sight.call.session) ?? []).find(
      (seen) => knew(sight, seen) && isBehind(register, sight, seen),
    );
    return before === undefined
      ? []
      : [`${describeSight(register, sight)}, in a session that had seen ${inWords(before)}`];
  });
}

/** What counts is what was seen when the read began, and what it has shown itself. */
function knew(sight: Sight, seen: Seen): boolean {
  return seen.call === sight.call ? seen.atMs < sight.atMs : seen.atMs <= sight.beginMs;
}

function isBehind(register: Register, sight: Sight, { write, call }: Seen): boolean {
  // At `strong` absence is a view like others: whether what was seen was acknowledged is held
  // against it elsewhere.
  if (sight.value === null && sight.level === 'strong') return false;
  const shown = explanationsOf(register, sight);
  // It was gone: what was there before that must not be shown again.
  if (write === undefined)
    return sight.value !== null && shown.some(({ doneMs }) => doneMs <= call.beginMs);
  return shown.length > 0 && shown.every((item) => surelyBefore(item, write));
}

function isKept(call: Call): boolean {
  return getInput(call).isKept === true && VERSIONED.has(call.kind);
}

function inWords({ write, atMs }: Seen): string {
  return `${write === undefined ? 'it gone' : `"${write.value}"`} by ${atMs.toFixed(1)} ms`;
}
