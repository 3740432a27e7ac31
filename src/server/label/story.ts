/** A breach told as what people did at two sites, one line each. */
import type { Breach } from './breach.ts';
import { shown, shownFields } from './shown.ts';
import type { Step } from './step.ts';
import type { Broken } from './validity.ts';

const HERE = 'Ireland';
const THERE = 'Virginia';

/** The lines of the story. */
export function storyOf(breach: Breach): readonly string[] {
  const { past, here, there } = breach.meeting;
  const lines = past.length === 0 ? [] : [`At first: ${calls(past)}.`];
  if (there.length === 0) lines.push(`${HERE}, where all of this is known: ${calls([here])}.`);
  else lines.push(`${HERE}: ${calls([here])}.`, `${THERE}, which has not seen it: ${calls(there)}.`);
  return [...lines, endOf(breach)];
}

/** What does not hold, in a sentence. */
export function brokenText({ table, key, invariant, row, error }: Broken): string {
  const problem = error === undefined ? shownFields(row) : `it threw: ${error}`;
  return `Then ${rowText(table, key)} breaks '${invariant}': ${problem}.`;
}

function endOf(breach: Breach): string {
  if (breach.kind !== 'differs') return brokenText(breach.broken);
  const { table, key, here, there } = breach.difference;
  const [a, b] = [here, there].map((row) => (Object.keys(row).length === 0 ? 'no such row' : shown(row)));
  return `Then the sites do not agree on ${rowText(table, key)}: ${HERE} has ${a}, ${THERE} has ${b}.`;
}

const rowText = (table: string, key: string): string => `${table} ${shown(key)}`;

const calls = (steps: readonly Step[]): string => steps.map(callText).join('; then ');

/** A call as a client writes it. */
export function callText({ operation, args }: Pick<Step, 'operation' | 'args'>): string {
  return args === undefined ? operation : `${operation} ${shown(args)}`;
}
