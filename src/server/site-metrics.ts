/** What the sites of a process count, for Prometheus. Names and meanings are listed in docs/operate/metrics-and-alarms.md. */
import type { LinkStatus } from './cluster/cluster-links.ts';
import type { RedLogStatus } from './cluster/red-log/node-red-log.ts';
import type { StoreMetric } from './gateway/listen/metrics.ts';
import type { RetainedReplies } from './replica/exactly-once/id-table.ts';
import type { CertificationStats } from './site/certification-stats.ts';
import type { RejectedMessageCounts } from './site/site-options.ts';

/** Sites whose counts are shown. */
export interface ObservedSites {
  readonly sites: readonly string[];
  certificationStats(site: string): CertificationStats;
  retainedReplies(site: string): RetainedReplies;
  rejectedMessages(site: string): RejectedMessageCounts;
}

/** The metrics of sites. */
export function createSiteMetrics(backend: ObservedSites): StoreMetric[] {
  return [createCertificationMetrics(backend), createMessageMetrics(backend), ...createRetentionMetrics(backend)];
}

/** What is shown of each link. Counters count since the process started. */
const LINK_METRICS: readonly (readonly [StoreMetric['kind'], string, string, (link: LinkStatus) => number])[] = [
  ['gauge', 'connected', '1 while the site is connected to the peer, otherwise 0', (link) => Number(link.isConnected)],
  ['counter', 'sent_messages_total', 'Messages sent to the peer', (link) => link.sentMessages],
  ['counter', 'sent_bytes_total', 'Bytes sent to the peer, before encryption', (link) => link.sentBytes],
  ['counter', 'received_messages_total', 'Messages received from the peer', (link) => link.receivedMessages],
  ['counter', 'received_bytes_total', 'Bytes received from the peer, after decryption', (link) => link.receivedBytes],
  [
    'counter',
    'dropped_messages_total',
    'Messages dropped while the link was down or full',
    (link) => link.droppedMessages,
  ],
  ['gauge', 'queued_bytes', 'Bytes that wait to be sent to the peer', (link) => link.queuedBytes],
  ['gauge', 'round_trip_seconds', 'Last measured round trip to the peer', (link) => (link.roundTripMs ?? NaN) / 1000],
];

/** The metrics of the links of a node. */
export function createLinkMetrics(site: string, readLinks: () => readonly LinkStatus[]): StoreMetric[] {
  return LINK_METRICS.map(([kind, name, help, valueOf]) => ({
    kind,
    name: `correctables_link_${name}`,
    help,
    labels: ['site', 'peer'],
    read: () => readLinks().map((link) => ({ labels: { site, peer: link.peer }, value: valueOf(link) })),
  }));
}

/** What is shown of etcd, if that keeps the red log. */
const RED_LOG_METRICS: readonly (readonly [string, string, (redLog: RedLogStatus) => number | undefined])[] = [
  ['connected', '1 while the site is connected to a server of etcd', ({ isConnected }) => Number(isConnected === true)],
  ['used_bytes', 'How much of the database of etcd is in use', ({ usedBytes }) => usedBytes],
  ['quota_bytes', 'How large the database of etcd may be', ({ quotaBytes }) => quotaBytes],
];

/** The metrics of the servers of the red log of a node. */
export function createRedLogMetrics(site: string, readRedLog: () => RedLogStatus): StoreMetric[] {
  if (readRedLog().engine !== 'etcd') return [];
  return RED_LOG_METRICS.map(([name, help, valueOf]) => ({
    kind: 'gauge',
    name: `correctables_red_log_${name}`,
    help,
    labels: ['site'],
    read: () => [{ labels: { site }, value: valueOf(readRedLog()) ?? NaN }],
  }));
}

function createCertificationMetrics(backend: ObservedSites): StoreMetric {
  return {
    kind: 'counter',
    name: 'correctables_red_rejected_total',
    help: 'Red operations rejected by certification, and executed again, by what they met',
    labels: ['site', 'reason'],
    read: () =>
      backend.sites.flatMap((site) =>
        Object.entries(backend.certificationStats(site)).map(([reason, value]) => ({
          labels: { site, reason },
          value,
        })),
      ),
  };
}

function createMessageMetrics({ sites, rejectedMessages }: ObservedSites): StoreMetric {
  return {
    kind: 'counter',
    name: 'correctables_site_messages_refused_total',
    help: 'Messages of other sites that were not taken, by reason',
    labels: ['site', 'reason'],
    read: () =>
      sites.flatMap((site) =>
        Object.entries(rejectedMessages(site)).map(([reason, value]) => ({ labels: { site, reason }, value })),
      ),
  };
}

function createRetentionMetrics(backend: ObservedSites): StoreMetric[] {
  const gauge = (name: string, help: string, figure: 'operations' | 'bytes'): StoreMetric => ({
    kind: 'gauge',
    name,
    help,
    labels: ['site', 'log'],
    read: () =>
      backend.sites.flatMap((site) =>
        Object.entries(backend.retainedReplies(site)).map(([log, of]) => ({
          labels: { site, log },
          value: of[figure],
        })),
      ),
  });
  return [
    gauge('correctables_replies_retained_in_log', 'Writes whose reply a log retains for retries', 'operations'),
    gauge('correctables_reply_bytes_retained_in_log', 'About how many bytes these replies take', 'bytes'),
  ];
}
