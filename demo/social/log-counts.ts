/** What the server counts for each red log, read from its metrics. A page can import this file. */
import { PARTITIONS, REGIONS, type Region } from './regions.ts';

/** The counts of the red log of one region, since the start. */
export interface LogCounts {
  readonly committed: number;
  /** Those of them that held rows of the other region. */
  readonly globals: number;
  /** Executions that met another operation, so that they ran again. */
  readonly rejected: number;
  /** How many holds have ended, and how long they stood together. */
  readonly holds: number;
  readonly heldMs: number;
  /** How many holds stand now. */
  readonly standing: number;
}

export type CountsByRegion = Readonly<Record<Region, LogCounts>>;

/** Reads the metrics of a server at this address. */
export async function readLogCounts(url: string): Promise<CountsByRegion> {
  const response = await fetch(url, { cache: 'no-store' });
  return parseLogCounts(await response.text());
}

/** Reads the counts of each region from metrics in the text format of Prometheus. */
export function parseLogCounts(metrics: string): CountsByRegion {
  const samples = [...metrics.matchAll(/^correctables_(\w+)\{(.*)\} (\S+)$/gm)].map(
    ([, name, labels, value]) => ({
      name,
      labels: ` ${labels?.replaceAll(',', ' ')} `,
      value: Number(value),
    }),
  );
  const sum = (name: string, ...labels: readonly string[]): number =>
    samples
      .filter(
        (sample) =>
          sample.name === name && labels.every((label) => sample.labels.includes(` ${label} `)),
      )
      .reduce((total, { value }) => total + value, 0);
  const counts = REGIONS.map((region) => {
    const partition = `partition="${region}"`;
    // All sites see all holds: those that the leader has seen are enough.
    const leader = `site="${PARTITIONS[region].leader}"`;
    return [
      region,
      {
        committed: sum('red_committed_total', partition),
        globals: sum('globals_total', partition, 'outcome="committed"'),
        rejected: sum('red_rejected_total', partition),
        holds: sum('hold_seconds_count', partition, leader),
        heldMs: 1000 * sum('hold_seconds_sum', partition, leader),
        standing: sum('holds_standing', partition, leader),
      },
    ];
  });
  return Object.fromEntries(counts) as CountsByRegion;
}
