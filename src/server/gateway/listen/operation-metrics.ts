/**
 * Durations and outcomes of operations as Prometheus metrics: for each site, operation and level.
 */
import type { Gateway } from '../gateway.ts';
import { DURATION_BOUNDS_MS } from '../operations/operation-stats.ts';
import type { Metric } from './metrics-text.ts';
import type { StoreMetric } from './store-metric.ts';

type Labels = Readonly<Record<string, string>>;
type Sites = Readonly<Record<string, Gateway>>;

const MS_PER_S = 1000;
const DURATION_METRIC = 'correctables_operation_duration_seconds';

export function createOperationMetrics(sites: Sites): StoreMetric[] {
  return [
    {
      kind: 'counter',
      name: 'correctables_operation_results_total',
      help: 'Views (code ok) and failures of operations, by level and code',
      read: () => readSites(sites, readResults),
    },
    {
      kind: 'counter',
      name: 'correctables_preliminary_views_total',
      help: 'Operations whose final view confirmed or corrected the last preliminary one',
      read: () => readSites(sites, readOutcomes),
    },
  ];
}

function readSites<T>(sites: Sites, read: (site: string, gateway: Gateway) => readonly T[]): T[] {
  return Object.entries(sites).flatMap(([site, gateway]) => read(site, gateway));
}

type Values = ReturnType<StoreMetric['read']>;

function readResults(site: string, { operations, levels }: Gateway): Values {
  return operations.flatMap(({ name: operation, durations, failures }) => {
    const label = (level: number, code: string): Labels => {
      return { site, operation, level: levels[level] as string, code };
    };
    const views = durations.map((counted, level) => {
      return { labels: label(level, 'ok'), value: sum(counted?.counts ?? []) };
    });
    const failed = failures.flatMap((codes, level) =>
      [...codes].map(([code, value]) => ({
        labels: label(level, code),
        value,
      })),
    );
    return [...views.filter(({ value }) => value > 0), ...failed];
  });
}

function readOutcomes(site: string, { operations }: Gateway): Values {
  return operations
    .filter(({ confirmed, corrected }) => confirmed + corrected > 0)
    .flatMap(({ name: operation, confirmed, corrected }) => [
      { labels: { site, operation, outcome: 'confirmed' }, value: confirmed },
      { labels: { site, operation, outcome: 'corrected' }, value: corrected },
    ]);
}

/** Returns the histogram of durations. A bucket also counts the values in smaller buckets. */
export function readDurations(sites: Sites): Metric {
  const values = readSites(sites, (site, { operations, levels }) =>
    operations.flatMap(({ name: operation, durations }) =>
      durations.flatMap((counted, level) => {
        if (counted === undefined) return [];
        const labels = { site, operation, level: levels[level] as string };
        let value = 0;
        const buckets = counted.counts.map((count, bucket) => {
          const boundMs = DURATION_BOUNDS_MS[bucket];
          const le = boundMs === undefined ? '+Inf' : boundMs / MS_PER_S;
          value += count;
          return {
            suffix: '_bucket',
            labels: { ...labels, le },
            value,
          };
        });
        return [
          ...buckets,
          {
            suffix: '_sum',
            labels,
            value: counted.sumMs / MS_PER_S,
          },
          { suffix: '_count', labels, value },
        ];
      }),
    ),
  );
  return {
    kind: 'histogram',
    name: DURATION_METRIC,
    help: 'Time from the arrival of an operation to each of its views, by level',
    values,
  };
}

function sum(counts: readonly number[]): number {
  return counts.reduce((total, count) => total + count, 0);
}
