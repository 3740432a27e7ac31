/** The figures of a run as text. */
import type { Figures, LayoutFigures } from './headless.ts';
import { REGION_NAMES, REGIONS } from './regions.ts';
import { KINDS, type Kind } from './workload.ts';

const KIND_NAMES: Readonly<Record<Kind, string>> = {
  timeline: 'timeline',
  post: 'post',
  localFollow: 'follow in the region',
  crossFollow: 'follow between regions',
};

/** Whether each strong read has shown whole follows, and those that had been confirmed before. */
export function isWhole({ check: { halfFollows, missedFollows } }: Figures): boolean {
  return halfFollows === 0 && missedFollows === 0;
}

export function formatReport(figures: Figures): string {
  const { logPerRegion, oneLog, logs } = figures;
  const rows = KINDS.map((kind) =>
    [KIND_NAMES[kind].padEnd(23), formatTimes(logPerRegion, kind), formatTimes(oneLog, kind)].join(
      '  ',
    ),
  );
  const counts = REGIONS.map((region) => {
    const { committed, globals, rejected, holds, heldMs } = logs[region];
    const held = holds === 0 ? '' : `, rows held ${formatMs(heldMs / holds)} on average`;
    return `log of ${REGION_NAMES[region]}: ${committed} committed, ${globals} of them globals, ${rejected} rejected${held}`;
  });
  return [
    `${'p50 / p95, ms'.padEnd(23)}  ${'a log for each region'.padEnd(21)}  one log`,
    ...rows,
    ...counts,
    ...formatUnfinished('a log for each region', logPerRegion),
    ...formatUnfinished('one log', oneLog),
    formatSummary(figures),
  ].join('\n');
}

/** Returns a line if operations were given up or have no answer. */
function formatUnfinished(name: string, { conflicts, unknown }: LayoutFigures): readonly string[] {
  return conflicts + unknown === 0
    ? []
    : [`${name}: ${conflicts} given up, ${unknown} without an answer`];
}

/** Returns the result in sentences. */
export function formatSummary(figures: Figures): string {
  const { logPerRegion, oneLog, check } = figures;
  const median = ({ operations }: LayoutFigures, kind: Kind): string =>
    formatMs(operations[kind].p50);
  const near = `A post takes ${median(logPerRegion, 'post')} with a log for each region, and ${median(oneLog, 'post')} with one log (p50).`;
  const far = `A follow between regions takes ${median(logPerRegion, 'crossFollow')} and ${median(oneLog, 'crossFollow')}.`;
  const verdict = isWhole(figures)
    ? `Each of ${check.strongReads} strong reads shows whole follows.`
    : `${check.halfFollows} half follows and ${check.missedFollows} missed ones in ${check.strongReads} strong reads.`;
  return `${near} ${far} ${verdict}`;
}

function formatTimes({ operations }: LayoutFigures, kind: Kind): string {
  const { p50, p95 } = operations[kind];
  return `${formatMs(p50)} / ${formatMs(p95)}`.padEnd(21);
}

function formatMs(ms: number | null): string {
  return ms === null ? '–' : `${ms.toFixed(ms < 10 ? 1 : 0)} ms`;
}
