/** Reports on stderr how far a command has come. */
import type { CheckProgress } from '../../server/node/storage/rows/check-report.ts';

const INTERVAL_MS = 5000;

/** Returns a function that prints a line, unless it has printed one within the last seconds. */
export function createProgressReporter(): (format: () => string) => void {
  let reportedAtMs = performance.now();
  return (format) => {
    const nowMs = performance.now();
    if (nowMs - reportedAtMs < INTERVAL_MS) return;
    reportedAtMs = nowMs;
    console.error(format());
  };
}

export function formatCheckProgress(site: string, { checked, total }: CheckProgress): string {
  return `${site}: ${Math.floor((100 * checked) / total)} % of the rows are checked`;
}
