/**
 * Metrics of the sites in a process, for Prometheus. Names and meanings are listed in
 * docs/operate/metrics-and-alarms.md.
 */
import type { LinkStatus } from './node/links/cluster-links.ts';
import type { RedLogStatus } from './node/red-log/node-red-log.ts';
import type { StoreMetric } from './gateway/listen/store-metric.ts';
import type { ComparisonFigures } from './node/alarms/divergence-alarm.ts';
import type { ObservedSites } from './node/site-figures.ts';
import { createPartitionMetrics, REJECTED_METRIC } from './partition-metrics.ts';

export function createSiteMetrics(backend: ObservedSites): StoreMetric[] {
  const hasPartitions = backend.sites.some(
    (site) => backend.getFigures(site).partitions !== undefined,
  );
  const define = (
    [kind, name, help]: readonly [kind: StoreMetric['kind'], name: string, help: string],
    label: string,
    read: (site: string) => Readonly<Record<string, number>>,
  ): StoreMetric => ({
    kind,
    name: `correctables_${name}`,
    help,
    read: () =>
      backend.sites.flatMap((site) =>
        Object.entries(read(site)).map(([key, value]) => ({
          labels: { site, [label]: key },
          value,
        })),
      ),
  });
  const readRetained = (
    site: string,
    figure: 'operations' | 'bytes',
  ): Readonly<Record<string, number>> => {
    const { own, red } = backend.getFigures(site).retainedReplies;
    return { own: own[figure], red: red[figure] };
  };
  const refusedHelp = 'Messages of other sites that were not taken, by reason';
  const memoryHelp = 'About how many bytes the site has in memory, by what takes them';
  const repliesHelp = 'Writes whose reply a log retains for retries';
  const bytesHelp = 'About how many bytes these replies take';
  return [
    ...(hasPartitions
      ? createPartitionMetrics(backend)
      : [define(REJECTED_METRIC, 'reason', (site) => backend.getFigures(site).certification)]),
    define(
      ['counter', 'site_messages_refused_total', refusedHelp],
      'reason',
      (site) => backend.getFigures(site).rejectedMessages,
    ),
    define(['gauge', 'memory_bytes', memoryHelp], 'part', (site) => ({
      ...backend.getFigures(site).memory.use,
    })),
    createMemoryLimitMetric(backend),
    ...createComparisonMetrics(backend),
    define(['gauge', 'replies_retained_in_log', repliesHelp], 'log', (site) =>
      readRetained(site, 'operations'),
    ),
    define(['gauge', 'reply_bytes_retained_in_log', bytesHelp], 'log', (site) =>
      readRetained(site, 'bytes'),
    ),
  ];
}

/** Shows how many bytes each site may have in memory. */
function createMemoryLimitMetric({ sites, getFigures }: ObservedSites): StoreMetric {
  return {
    kind: 'gauge',
    name: 'correctables_memory_limit_bytes',
    help: 'How many bytes the site may have in memory',
    read: () =>
      sites.map((site) => ({
        labels: { site },
        value: getFigures(site).memory.maxBytes ?? Infinity,
      })),
  };
}

const COMPARISON_METRICS: readonly (readonly [string, keyof ComparisonFigures, string])[] = [
  ['compared_rows', 'rows', 'Rows that were compared with those of another site'],
  ['compared_sites', 'passes', 'How often all rows were compared with those of another site'],
  ['diverged_rows', 'diverged', 'Rows that differ from those of another site, each counted once'],
];

function createComparisonMetrics({ sites, getFigures }: ObservedSites): StoreMetric[] {
  return COMPARISON_METRICS.map(([name, figure, help]) => ({
    kind: 'counter',
    name: `correctables_${name}_total`,
    help,
    read: () =>
      sites.map((site) => ({ labels: { site }, value: getFigures(site).comparisons[figure] })),
  }));
}

/** The metrics of each link. Counters count since the process started. */
const LINK_METRICS: readonly (readonly [
  StoreMetric['kind'],
  string,
  string,
  (link: LinkStatus) => number,
])[] = [
  [
    'gauge',
    'connected',
    '1 while the site is connected to the peer, otherwise 0',
    (link) => Number(link.isConnected),
  ],
  ['counter', 'sent_messages_total', 'Messages sent to the peer', (link) => link.sentMessages],
  [
    'counter',
    'sent_bytes_total',
    'Bytes sent to the peer, before encryption',
    (link) => link.sentBytes,
  ],
  [
    'counter',
    'received_messages_total',
    'Messages received from the peer',
    (link) => link.receivedMessages,
  ],
  [
    'counter',
    'received_bytes_total',
    'Bytes received from the peer, after decryption',
    (link) => link.receivedBytes,
  ],
  [
    'counter',
    'dropped_messages_total',
    'Messages dropped while the link was down or full',
    (link) => link.droppedMessages,
  ],
  ['gauge', 'queued_bytes', 'Bytes that wait to be sent to the peer', (link) => link.queuedBytes],
  [
    'gauge',
    'round_trip_seconds',
    'Last measured round trip to the peer',
    (link) => (link.roundTripMs ?? NaN) / 1000,
  ],
];

export function createLinkMetrics(
  site: string,
  readLinks: () => readonly LinkStatus[],
): StoreMetric[] {
  return LINK_METRICS.map(([kind, name, help, valueOf]) => ({
    kind,
    name: `correctables_link_${name}`,
    help,
    read: () =>
      readLinks().map((link) => ({
        labels: { site, peer: link.peer },
        value: valueOf(link),
      })),
  }));
}

/** Counts refused connections to the cluster address. */
export function createRefusedMetric(site: string, readCount: () => number): StoreMetric {
  return {
    kind: 'counter',
    name: 'correctables_link_refused_connections_total',
    help: 'Connections to the cluster address without TLS, or with the wrong key, deployment or site',
    read: () => [{ labels: { site }, value: readCount() }],
  };
}

/** The metrics of etcd, if it keeps the red log. */
const RED_LOG_METRICS: readonly (readonly [
  string,
  string,
  (redLog: RedLogStatus) => number | undefined,
])[] = [
  [
    'connected',
    '1 while the site is connected to a server of etcd',
    ({ isConnected }) => Number(isConnected === true),
  ],
  ['used_bytes', 'How much of the database of etcd is in use', ({ usedBytes }) => usedBytes],
  ['quota_bytes', 'How large the database of etcd may be', ({ quotaBytes }) => quotaBytes],
];

/** Shows an outage of the site that orders red operations, or of the majority that it needs. */
export function createRedOrderMetric(
  site: string,
  readProblem: () => string | undefined,
): StoreMetric {
  return {
    kind: 'gauge',
    name: 'correctables_red_order_reachable',
    help: '1 while red writes and strong reads of the site can be ordered',
    read: () => [{ labels: { site }, value: Number(readProblem() === undefined) }],
  };
}

export function createRedLogMetrics(site: string, readRedLog: () => RedLogStatus): StoreMetric[] {
  if (readRedLog().engine !== 'etcd') return [];
  return RED_LOG_METRICS.map(([name, help, valueOf]) => ({
    kind: 'gauge',
    name: `correctables_red_log_${name}`,
    help,
    read: () => [{ labels: { site }, value: valueOf(readRedLog()) ?? NaN }],
  }));
}
