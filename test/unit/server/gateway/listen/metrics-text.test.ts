/** The text format of Prometheus, beside the same metrics as `prom-client` writes them. */
import { Gauge, Registry } from 'prom-client';
import { expect, test } from 'vitest';
import {
  formatMetrics,
  METRICS_CONTENT_TYPE,
} from '../../../../../src/server/gateway/listen/metrics-text.ts';

test('labels, help and numbers are written as prom-client writes them', async () => {
  const registry = new Registry();
  const help = 'Bytes, in \\ and\nlines';
  const values = [
    { labels: { site: 'a "b"\\\n', level: 'strong' }, value: 1.5 },
    { labels: { site: 'c', level: 'ok' }, value: Infinity },
    { labels: { site: 'd', level: 'ok' }, value: -Infinity },
  ];
  const gauge = new Gauge({
    name: 'bytes',
    help,
    labelNames: ['site', 'level'],
    registers: [registry],
  });
  for (const { labels, value } of values) gauge.set(labels, value);
  expect(formatMetrics([{ kind: 'gauge', name: 'bytes', help, values }])).toBe(
    await registry.metrics(),
  );
  expect(METRICS_CONTENT_TYPE).toBe(registry.contentType);
});

test('a histogram names the series of each value', () => {
  const values = [
    { suffix: '_bucket', labels: { le: '+Inf' }, value: 2 },
    { suffix: '_count', labels: {}, value: 2 },
  ];
  expect(formatMetrics([{ kind: 'histogram', name: 'took', help: 'Time', values }])).toBe(
    '# HELP took Time\n# TYPE took histogram\ntook_bucket{le="+Inf"} 2\ntook_count 2\n',
  );
});
