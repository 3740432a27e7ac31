/**
 * The text format of Prometheus (version 0.0.4), for metrics whose values are read when they are
 * requested.
 */

export const METRICS_CONTENT_TYPE = 'text/plain; version=0.0.4; charset=utf-8';

/** A metric with its current values. */
export interface Metric {
  readonly kind: 'counter' | 'gauge' | 'histogram' | 'summary';
  readonly name: string;
  readonly help: string;
  readonly values: readonly MetricValue[];
}

interface MetricValue {
  /** What the name of the series has behind the name of the metric, as `_sum`. Default: nothing */
  readonly suffix?: string;
  readonly labels: Readonly<Record<string, string | number>>;
  readonly value: number;
}

export function formatMetrics(metrics: readonly Metric[]): string {
  return `${metrics.map(formatMetric).join('\n\n')}\n`;
}

function formatMetric({ kind, name, help, values }: Metric): string {
  return [
    `# HELP ${name} ${escapeText(help)}`,
    `# TYPE ${name} ${kind}`,
    ...values.map(
      ({ suffix = '', labels, value }) =>
        `${name}${suffix}${formatLabels(labels)} ${formatNumber(value)}`,
    ),
  ].join('\n');
}

function formatLabels(labels: MetricValue['labels']): string {
  const texts = Object.entries(labels).map(
    ([name, value]) => `${name}="${escapeText(String(value)).replaceAll('"', '\\"')}"`,
  );
  return texts.length === 0 ? '' : `{${texts.join(',')}}`;
}

function escapeText(text: string): string {
  return text.replaceAll('\\', '\\\\').replaceAll('\n', '\\n');
}

function formatNumber(value: number): string {
  return value === Infinity ? '+Inf' : String(value).replace('Infinity', 'Inf');
}
