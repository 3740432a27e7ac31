/**
 * The metrics of gateways, for Prometheus. Names and meanings are listed in
 * docs/operate/metrics-and-alarms.md.
 */
import type { Gateway, GatewayStatus } from '../gateway.ts';
import { formatMetrics, METRICS_CONTENT_TYPE } from './metrics-text.ts';
import { createOperationMetrics, readDurations } from './operation-metrics.ts';
import { readProcessMetrics } from './process-metrics.ts';
import type { StoreMetric } from './store-metric.ts';

/** A number of a gateway's status. */
type StatusField = {
  [K in keyof GatewayStatus]-?: GatewayStatus[K] extends number ? K : never;
}[keyof GatewayStatus];

/**
 * The metrics of each site: the field of its status, and its meaning. Counters count since the
 * gateway was created.
 */
const GATEWAY_METRICS: readonly (readonly [
  StoreMetric['kind'],
  name: string,
  field: StatusField,
  help: string,
])[] = [
  ['gauge', 'connections', 'connections', 'Open connections of clients'],
  [
    'gauge',
    'operations_in_flight',
    'inFlight',
    'Operations that the store has not ended, or that wait for authorize',
  ],
  [
    'gauge',
    'request_bytes_in_flight',
    'inFlightBytes',
    'Bytes of the frames that these operations came in',
  ],
  ['gauge', 'clients', 'clients', 'Clients known, connected or not'],
  ['gauge', 'replies_retained', 'replies', 'Writes whose reply is kept for a repetition'],
  [
    'gauge',
    'reply_bytes_retained',
    'replyBytes',
    'Bytes kept of clients, with what it costs to remember them',
  ],
  ['counter', 'operations_total', 'submitted', 'Operations handed to the store'],
  ['counter', 'overloaded_total', 'overloaded', 'Operations refused for overload or rate'],
  ['counter', 'malformed_total', 'malformed', 'Rows or frames refused as malformed'],
  [
    'counter',
    'binding_violations_total',
    'bindingViolations',
    'Views of the store after the end, or at an unknown level',
  ],
];

export class GatewayMetrics {
  readonly contentType = METRICS_CONTENT_TYPE;
  readonly #sites: Readonly<Record<string, Gateway>>;
  readonly #metrics: readonly StoreMetric[];

  constructor(sites: Readonly<Record<string, Gateway>>, stores: readonly StoreMetric[] = []) {
    this.#sites = sites;
    this.#metrics = [...createGatewayMetrics(sites), ...createOperationMetrics(sites), ...stores];
  }

  async text(): Promise<string> {
    const metrics = this.#metrics.map((metric) => ({
      ...metric,
      values: metric.read(),
    }));
    const own = formatMetrics([...metrics, readDurations(this.#sites)]);
    return `${own}\n${await readProcessMetrics()}`;
  }
}

function createGatewayMetrics(sites: Readonly<Record<string, Gateway>>): StoreMetric[] {
  const create = (
    kind: StoreMetric['kind'],
    name: string,
    help: string,
    getValue: (gateway: Gateway) => number,
  ): StoreMetric => ({
    kind,
    name: `correctables_${name}`,
    help,
    read: () =>
      Object.entries(sites).map(([site, gateway]) => ({
        labels: { site },
        value: getValue(gateway),
      })),
  });
  const serving = '1 while the site takes new connections, otherwise 0';
  return [
    ...GATEWAY_METRICS.map(([kind, name, field, help]) =>
      create(kind, name, help, (gateway) => gateway.status()[field]),
    ),
    create('gauge', 'serving', serving, ({ isAccepting }) => (isAccepting ? 1 : 0)),
  ];
}
