/** A label report as lines for people, or as one for programs. */
import type { CalledOperation, LabelReport, ShadowVerdict } from '../server/label/report.ts';
import { writtenArgs } from '../server/label/values/shown.ts';

/** What is printed with `--json`. */
export interface TimedReport extends LabelReport {
  /** How long the runs took. */
  readonly seconds: number;
}

/** The verdicts as a table, then the stories, what was found of generators, and the numbers of the service. */
export function linesOf({ service, runs, seed, seconds, shadows, generators, table }: TimedReport): readonly string[] {
  const requests = table.requests === null ? '' : `${table.requests} requests of users, `;
  const seeds = runs === 0 ? '' : `, seeds ${seed} to ${seed + runs - 1}`;
  return [
    `${service}: ${runs} runs${seeds}, in ${seconds} s`,
    '',
    ...tableLines(shadows),
    ...shadows.flatMap(storyLines),
    ...generators.flatMap(({ operation, isFault, problem, times }) => [
      '',
      `${isFault ? 'FAULT' : 'note'}: the generator of ${operation}: ${problem} (${times} times)`,
    ]),
    '',
    `${requests}${table.transactions} operations: ${table.readOnly} read, ${table.updates} update. Shadow operations as declared: ` +
      `${table.shadowBlueNoop} that do nothing, ${table.shadowBlue} blue, ${table.shadowRed} red.`,
  ];
}

const HEADINGS = ['shadow operation', 'operation', 'declared', 'verdict', 'reason'] as const;

function tableLines(shadows: readonly ShadowVerdict[]): readonly string[] {
  const rows = shadows.map(({ name, operation, declared, verdict, reason }) => {
    return [name, operation ?? '–', declared, verdict === 'unsafe' ? 'UNSAFE' : verdict, reason];
  });
  const widths = HEADINGS.map((heading, at) => Math.max(heading.length, ...rows.map((row) => row[at]?.length ?? 0)));
  return [HEADINGS, ...rows].map((row) =>
    row
      .map((cell, at) => cell.padEnd(widths[at] ?? 0))
      .join('  ')
      .trimEnd(),
  );
}

function storyLines({ name, declared, verdict, counterexample }: ShadowVerdict): readonly string[] {
  if (counterexample === undefined) return [];
  const { story, seed } = counterexample;
  const wrong = verdict === 'unsafe' ? `UNSAFE, declared ${declared}` : verdict;
  return ['', `${name} (${wrong}):`, ...story.map((line) => `  ${line}`), `  Again: --seed ${seed} --runs 1`];
}

/** What is printed with `--json`. */
export function jsonLineOf({ shadows, ...rest }: TimedReport): string {
  return JSON.stringify({ ...rest, shadows: shadows.map(written) });
}

function written({ counterexample, ...verdict }: ShadowVerdict): ShadowVerdict {
  if (counterexample === undefined) return verdict;
  const { past, here, there } = counterexample;
  const calls = { past: past.map(writtenCall), here: writtenCall(here), there: there.map(writtenCall) };
  return { ...verdict, counterexample: { ...counterexample, ...calls } };
}

function writtenCall({ operation, args }: CalledOperation): CalledOperation {
  return { operation, args: writtenArgs(args) };
}
