/** A breach told as what people did at two sites, one line each. */
import type { Breach } from './breach.ts';
import { shown, shownFields } from './values/shown.ts';
import type { Step } from './step.ts';
import type { Broken, ShownRow } from './validity.ts';

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
