/**
 * The metrics of gateways, for Prometheus. Names and meanings are listed in
 * docs/operate/metrics-and-alarms.md.
 */
import {
  collectDefaultMetrics,
  Counter,
  Gauge,
  Histogram,
  Registry,
} from 'prom-client';
import type { Gateway, GatewayStatus } from '../gateway.ts';
import type { StoreMetric } from './store-metric.ts';
import {
  createOperationMetrics,
  DURATION_HELP,
  DURATION_METRIC,
  readDurations,
} from './operation-metrics.ts';

/** A number of a gateway's status. */
type StatusField = {
  [K in keyof GatewayStatus]-?: GatewayStatus[K] extends number ? K : never;
}[keyof GatewayStatus];

/**
 * The metrics of each site: the field of its status, and its meaning. Counters
 * count since the gateway was created.
 */
const SITE_METRICS: readonly (readonly [
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
  [
    'gauge',
    'replies_retained',
    'replies',
    'Writes whose reply is kept for a repetition',
  ],
  [
    'gauge',
    'reply_bytes_retained',
    'replyBytes',
    'Bytes kept of clients, with what it costs to remember them',
  ],
  [
    'counter',
    'operations_total',
    'submitted',
    'Operations handed to the store',
  ],
  [
    'counter',
    'overloaded_total',
    'overloaded',
    'Operations refused for overload or rate',
  ],
  [
    'counter',
    'malformed_total',
    'malformed',
    'Rows or frames refused as malformed',
  ],
  [
    'counter',
    'binding_violations_total',
    'bindingViolations',
    'Views of the store after the end, or at an unknown level',
  ],
];

let processRegistry: Registry | undefined;

/**
 * The metrics of the process and of Node. They are created once, because their
 * observers cannot be stopped again.
 */
function getProcessMetrics(): Registry {
  if (processRegistry === undefined) {
    processRegistry = new Registry();
    collectDefaultMetrics({ register: processRegistry });
  }
  return processRegistry;
}

export class GatewayMetrics {
  readonly #registry = new Registry();

  constructor(
    sites: Readonly<Record<string, Gateway>>,
    stores: readonly StoreMetric[] = [],
  ) {
    const register = (
      kind: StoreMetric['kind'],
      name: string,
      help: string,
      value: (of: Gateway) => number,
    ): void => {
      const read: StoreMetric['read'] = () =>
        Object.entries(sites).map(([site, gateway]) => ({
          labels: { site },
          value: value(gateway),
        }));
      this.#register({
        kind,
        name: `correctables_${name}`,
        help,
        labels: ['site'],
        read,
      });
    };
    for (const [kind, name, field, help] of SITE_METRICS)
      register(kind, name, help, (gateway) => gateway.status()[field]);
    const serving = '1 while the site takes new connections, otherwise 0';
    register('gauge', 'serving', serving, ({ isAccepting }) =>
      isAccepting ? 1 : 0,
    );
    for (const metric of createOperationMetrics(sites)) this.#register(metric);
    this.#registerDurations(sites);
    for (const metric of stores) this.#register(metric);
  }

  get contentType(): string {
    return this.#registry.contentType;
  }

  async text(): Promise<string> {
    const texts = await Promise.all([
      this.#registry.metrics(),
      getProcessMetrics().metrics(),
    ]);
    return texts.join('\n');
  }

  /**
   * The histogram is filled by the operations themselves, so only its values
   * are read here.
   */
  #registerDurations(sites: Readonly<Record<string, Gateway>>): void {
    const about = { name: DURATION_METRIC, help: DURATION_HELP };
    const labelNames = ['site', 'operation', 'level'];
    const get = async () => {
      const values = readDurations(sites);
      return { ...about, type: 'histogram', aggregator: 'sum', values };
    };
    const histogram = new Histogram({ ...about, labelNames, registers: [] });
    this.#registry.registerMetric(
      Object.assign(histogram, { get, getForPromString: get }),
    );
  }

  #register({ kind, name, help, labels, read }: StoreMetric): void {
    const Metric = kind === 'counter' ? Counter : Gauge;
    const metric: Counter | Gauge = new Metric({
      name,
      help,
      labelNames: [...labels],
      registers: [this.#registry],
      collect() {
        metric.reset();
        for (const item of read()) metric.inc(item.labels, item.value);
      },
    });
  }
}
