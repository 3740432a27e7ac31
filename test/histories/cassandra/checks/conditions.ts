/**
 * Keys that are written by conditions (`IF`) alone: each value is replaced once, in an order that
 * real time allows, and a condition that was refused did not hold.
 */
import type { Call } from '../../history.ts';
import { getInput } from '../inputs.ts';
import { registersOf, type Register, type Write } from './build-registers.ts';

interface Step extends Write {
  /** What it replaces; null: nothing. */
  readonly expected: string | null;
}

export function conditionFaults(calls: readonly Call[]): string[] {
  return [...registersOf(calls).values()].flatMap((register) => {
    const isConditional = register.writes.every(
      ({ call }) => getInput(call).expected !== undefined,
    );
    return isConditional ? faultsOf(register) : [];
  });
}

function faultsOf(register: Register): string[] {
  const steps = register.writes.map((write): Step => ({
    ...write,
    expected: getInput(write.call).expected ?? null,
  }));
  const made = steps.filter((step) => isMade(step, steps, register));
  const faults: string[] = [];
  for (const [at, step] of made.entries()) {
    const rival = made.slice(0, at).find(({ expected }) => expected === step.expected);
    if (rival !== undefined)
      faults.push(
        `${register.key}: ${inWords(rival)} and ${inWords(step)} both replaced ${named(step)}`,
      );
    const base = made.find(({ value }) => value === step.expected);
    if (step.expected !== null && base === undefined)
      faults.push(`${register.key}: ${inWords(step)}: no call wrote that`);
    if (base !== undefined && step.doneMs < base.fromMs) {
      faults.push(`${register.key}: ${inWords(step)} ended before ${inWords(base)} began`);
    }
  }
  return [...faults, ...falseRefusals(register, steps)];
}

/** A condition that held all the time, from before the call to after it, and was refused. */
function falseRefusals({ key }: Register, steps: readonly Step[]): string[] {
  return steps.flatMap((step) => {
    const { call, expected } = step;
    if (call.outcome !== 'success' || call.output !== false) return [];
    const base = steps.find(({ value }) => value === expected);
    const wasThere = expected === null ? true : base !== undefined && base.doneMs <= call.beginMs;
    const isReplaced = steps.some(
      (other) =>
        other.expected === expected &&
        other.reported !== 'not made' &&
        other.fromMs <= (call.endMs ?? Infinity),
    );
    return wasThere && !isReplaced
      ? [`${key}: ${inWords(step)} was refused, though that was there`]
      : [];
  });
}

/** Succeeded, shown in a strong view, or replaced by another. */
function isMade(step: Step, steps: readonly Step[], { sights }: Register): boolean {
  if (step.reported === 'made') return true;
  if (step.reported === 'not made') return false;
  const isShown = sights.some(({ value, level }) => value === step.value && level === 'strong');
  return (
    isShown ||
    steps.some(({ expected, reported: fate }) => expected === step.value && fate === 'made')
  );
}

function inWords({ call, value }: Step): string {
  return `${call.kind} "${value}" of ${call.session} (${call.beginMs.toFixed(1)} ms: ${call.outcome ?? 'in flight'})`;
}

function named({ expected }: Step): string {
  return expected === null ? 'nothing' : `"${expected}"`;
}
