/**
 * Metrics of sites with several red logs, for each of them. Names and meanings are listed in
 * docs/operate/metrics-and-alarms.md.
 */
import type { StoreMetric } from './gateway/listen/store-metric.ts';
import type { ObservedSites } from './node/site-figures.ts';
import type { LogFigures, PartitionFigures, TimeSum } from './node/partition-stats.ts';

type Labels = Readonly<Record<string, string>>;

/** With one log it has no label for the partition. */
export const REJECTED_METRIC = [
  'counter',
  'red_rejected_total',
  'Red operations rejected by certification, and executed again, by what they met',
] as const;

/** A value of one red log at one site. */
type LogValue = ReturnType<StoreMetric['read']>[number];

export function createPartitionMetrics(backend: ObservedSites): StoreMetric[] {
  const define = (
    [kind, name, help]: readonly [StoreMetric['kind'], string, string],
    read: (log: LogFigures, labels: Labels, standingHolds: number) => readonly LogValue[],
  ): StoreMetric => ({
    kind,
    name: `correctables_${name}`,
    help,
    read: () =>
      backend.sites.flatMap((site) => {
        const { logs, names, standingHolds } = backend.getFigures(site).partitions ?? NO_FIGURES;
        return logs.flatMap((log, at) => {
          const labels = { site, partition: names[at] ?? '' };
          return read(log, labels, standingHolds[at] ?? 0);
        });
      }),
  });
  return [
    define(REJECTED_METRIC, (log, labels) => labelEach(log.rejections.stats, 'reason', labels)),
    define(
      [
        'counter',
        'red_committed_total',
        'Red operations of the site that have committed, also globals',
      ],
      (log, labels) => [{ labels, value: log.committed }],
    ),
    define(
      [
        'counter',
        'globals_total',
        'Executions of globals of the site by their home partition, by outcome',
      ],
      (log, labels) => labelEach(log.globals, 'outcome', labels),
    ),
    define(
      [
        'summary',
        'hold_seconds',
        'How long rows of the partition were held by globals of any site',
      ],
      (log, labels) => formatTimes(log.holds, labels),
    ),
    define(['gauge', 'holds_standing', 'Holds of globals that stand'], (_, labels, value) => [
      { labels, value },
    ]),
    define(
      [
        'counter',
        'strong_checks_failed_total',
        'Checks of strong reads over several partitions that failed',
      ],
      (log, labels) => [{ labels, value: log.failedChecks }],
    ),
    define(
      [
        'summary',
        'red_gate_wait_seconds',
        'How long records of the red log waited for what they depend on',
      ],
      (log, labels) => formatTimes(log.gateWaits, labels),
    ),
  ];
}

const NO_FIGURES: PartitionFigures = { names: [], logs: [], standingHolds: [] };

function labelEach(
  counts: Readonly<Record<string, number>>,
  name: string,
  labels: Labels,
): readonly LogValue[] {
  return Object.entries(counts).map(([key, value]) => ({
    labels: { ...labels, [name]: key },
    value,
  }));
}

function formatTimes({ sumMs, count }: TimeSum, labels: Labels): readonly LogValue[] {
  return [
    { labels, suffix: '_sum', value: sumMs / 1000 },
    { labels, suffix: '_count', value: count },
  ];
}
