/**
 * Results that no run of the benchmarks as they are has given, and of when they are, by file in `bench/results`. Bars had
 * other names or other goals then, or were judged by their middle, or by fewer rounds than that takes. A full run takes its
 * file from here; docs/benchmarks.md has the same list.
 */
export const MEASURED_BEFORE: Readonly<Record<string, string>> = {
  'ads-cassandra': '2026-11-20',
  'redblue-latency': '2026-11-23',
  'tickets-zookeeper': '2026-11-21',
  'twissandra-cassandra': '2026-11-22',
};
