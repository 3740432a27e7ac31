/** What the gateways are doing, for Prometheus. Names and meanings are listed in docs/operating-gateway.md. */
import { collectDefaultMetrics, Counter, Gauge, Registry } from 'prom-client';
import type { Gateway, GatewayStatus } from '../gateway.ts';

/** A number of a gateway's status. */
type Field = { [K in keyof GatewayStatus]: GatewayStatus[K] extends number ? K : never }[keyof GatewayStatus];

/** Gauges by name: the field that they show and what it means. */
const GAUGES: Readonly<Record<string, readonly [Field, string]>> = {
  correctables_connections: ['connections', 'Open connections of clients'],
  correctables_operations_in_flight: [
    'inFlight',
    'Operations that the store has not ended, or that wait for authorise',
  ],
  correctables_request_bytes_in_flight: ['inFlightBytes', 'Bytes of the frames that these operations came in'],
  correctables_clients: ['clients', 'Clients known, connected or not'],
  correctables_replies_kept: ['replies', 'Updates whose reply is kept for a repetition'],
  correctables_reply_bytes_kept: ['replyBytes', 'Bytes kept of clients, with what it costs to remember them'],
};

/** Counters by name, counted since the gateway was made. */
const COUNTERS: Readonly<Record<string, readonly [Field, string]>> = {
  correctables_operations_total: ['submitted', 'Operations handed to the store'],
  correctables_overloaded_total: ['overloaded', 'Operations refused for overload or rate'],
  correctables_malformed_total: ['malformed', 'Rows or frames refused as malformed'],
  correctables_store_misuses_total: [
    'misuses',
    'Views of the store after the end, and views or failures at an unknown level',
  ],
};

/** A counter, or a gauge, of what stands behind the gateways. */
export interface StoreMetric {
  readonly kind: 'counter' | 'gauge';
  readonly name: string;
  readonly help: string;
  readonly labels: readonly string[];
  /** What it has come to, by labels. */
  read(): readonly { readonly labels: Readonly<Record<string, string>>; readonly value: number }[];
}

let shared: Registry | undefined;

/** The figures of the process and of Node: once, since what observes them cannot be stopped again. */
function processMetrics(): Registry {
  if (shared === undefined) {
    shared = new Registry();
    collectDefaultMetrics({ register: shared });
  }
  return shared;
}

/** The metrics of one listener, in the text format of Prometheus. */
export class GatewayMetrics {
  readonly #registry = new Registry();

  constructor(sites: Readonly<Record<string, Gateway>>, stores: readonly StoreMetric[] = []) {
    const each = Object.entries(sites);
    const own = { labelNames: ['site'], registers: [this.#registry] };
    for (const [name, [field, help]] of Object.entries(GAUGES)) {
      const gauge: Gauge = new Gauge({
        ...own,
        name,
        help,
        collect: () => each.forEach(([site, gateway]) => gauge.set({ site }, gateway.status()[field])),
      });
    }
    for (const [name, [field, help]] of Object.entries(COUNTERS)) {
      const counter: Counter = new Counter({
        ...own,
        name,
        help,
        collect() {
          counter.reset();
          for (const [site, gateway] of each) counter.inc({ site }, gateway.status()[field]);
        },
      });
    }
    for (const { kind, name, help, labels, read } of stores) {
      const Metric = kind === 'counter' ? Counter : Gauge;
      const metric: Counter | Gauge = new Metric({
        name,
        help,
        labelNames: [...labels],
        registers: [this.#registry],
        collect() {
          metric.reset();
          for (const each of read()) metric.inc(each.labels, each.value);
        },
      });
    }
    const serving: Gauge = new Gauge({
      ...own,
      name: 'correctables_serving',
      help: '1 while the site takes new connections, otherwise 0',
      collect: () => each.forEach(([site, gateway]) => serving.set({ site }, gateway.accepting ? 1 : 0)),
    });
  }

  get contentType(): string {
    return this.#registry.contentType;
  }

  /** All metrics as of now. */
  async text(): Promise<string> {
    const texts = await Promise.all([this.#registry.metrics(), processMetrics().metrics()]);
    return texts.join('\n');
  }
}
