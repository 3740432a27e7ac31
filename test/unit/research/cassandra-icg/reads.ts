/** A path to a scripted node, and the events of its reads. */
import cassandra from 'cassandra-driver';
import { CqlError } from '../../../../src/research/cassandra-icg/cql-error.ts';
import { isCorrectableError } from '../../../../src/correctable/errors.ts';
import type { Script } from './scripted-node.ts';
import type { CassandraDriver } from '../../../../src/bindings/cassandra/driver.ts';
import {
  openPluginReads,
  type PluginReadStrategy,
} from '../../../../src/research/cassandra-icg/plugin-reads.ts';
import type { PluginLimits } from '../../../../src/research/cassandra-icg/options.ts';
import { parseAddress } from '../../../../src/bindings/shared/server-address.ts';
import type {
  Page,
  ReadStrategy,
  ReadStrategyOptions,
  ReadRequest,
  ReadSink,
  ReadStatement,
} from '../../../../src/bindings/cassandra/read-strategy.ts';

/** The events of a sink, in order: `preliminary a,b`, `confirm`, `final a,b`, `fail CODE`. */
export class Heard implements ReadSink {
  readonly events: string[] = [];
  readonly over: Promise<readonly string[]>;
  error: unknown;
  #end!: (reported: readonly string[]) => void;
  readonly #waiting: (() => void)[] = [];

  constructor() {
    this.over = new Promise((resolve) => (this.#end = resolve));
  }

  deliverPreliminary(page: Page): void {
    this.#say(`preliminary ${textOf(page)}`);
  }

  failPreliminary(error: unknown): void {
    this.#say(`preliminary failed ${codeOf(error)}`);
  }

  confirm(): void {
    this.#say('confirm', true);
  }

  deliverFinal(page: Page): void {
    this.#say(`final ${textOf(page)}`, true);
  }

  fail(error: unknown): void {
    this.error = error;
    this.#say(`fail ${codeOf(error)}`, true);
  }

  /** Resolves once there are `count` events. */
  async until(count: number): Promise<void> {
    while (this.events.length < count)
      await new Promise<void>((resolve) => this.#waiting.push(resolve));
  }

  #say(description: string, isEnd = false): void {
    this.events.push(description);
    for (const resolve of this.#waiting.splice(0)) resolve();
    if (isEnd) this.#end(this.events);
  }
}

/** The plain way of a test: answers at once, and remembers what it was asked. */
export class DriverReads implements ReadStrategy {
  readonly requests: ReadRequest[] = [];
  isClosed = false;
  /** What every read fails with, if anything. */
  failure: Error | undefined;

  read(_statement: ReadStatement, request: ReadRequest, sink: ReadSink): void {
    this.requests.push(request);
    if (this.failure !== undefined) return sink.fail(this.failure);
    if (request.preliminaryConsistency !== undefined)
      sink.deliverPreliminary({ rows: [{ v: 'plain' }], pageState: undefined });
    sink.deliverFinal({ rows: [{ v: 'plain' }], pageState: undefined });
  }

  async close(): Promise<void> {
    this.isClosed = true;
  }
}

export interface OpenOptions extends Partial<PluginLimits> {
  readonly settings?: Partial<ReadStrategyOptions>;
}

export interface Opened extends AsyncDisposable {
  readonly path: PluginReadStrategy;
  readonly plain: DriverReads;
  /** Reads the statement of the scripts. */
  read(change?: Partial<ReadStatement> & Partial<ReadRequest>): Heard;
}

/** Opens a path to a node, which has to be one that gives preliminary replies. */
export async function open(address: string, options: OpenOptions = {}): Promise<Opened> {
  const plain = new DriverReads();
  const path = await tryOpen(address, options, plain);
  if (path === undefined) throw new Error('the node is a plain one');
  return {
    path,
    plain,
    read(change = {}) {
      const {
        consistency = 'QUORUM',
        preliminaryConsistency,
        ...rest
      } = { preliminaryConsistency: 'ONE' as const, ...change };
      const heard = new Heard();
      path.read(
        { cql: 'SELECT v FROM t', params: [], pageSize: 100, ...rest },
        { consistency, preliminaryConsistency },
        heard,
      );
      return heard;
    },
    [Symbol.asyncDispose]: () => path.close(),
  };
}

export async function tryOpen(
  address: string,
  { settings, ...limits }: OpenOptions = {},
  driverReads: DriverReads = new DriverReads(),
): Promise<PluginReadStrategy | undefined> {
  const driver = cassandra as unknown as CassandraDriver;
  const all = {
    contactPoints: [parseAddress(address, 9042)!],
    keyspace: undefined,
    credentials: undefined,
    tls: undefined,
  };
  return openPluginReads(
    driver,
    { ...all, requestTimeoutMs: 30_000, driverReads, ...settings },
    { initialReconnectDelayMs: 1, ...limits },
  );
}

function textOf({ rows, pageState }: Page): string {
  return (
    rows.map((row) => String(row['v'])).join(',') +
    (pageState === undefined ? '' : ` more ${pageState}`)
  );
}

export function codeOf(error: unknown): string {
  const { code, server } = error as {
    readonly code?: string;
    readonly server?: { readonly code: number };
  };
  return server === undefined ? String(code) : `${code} 0x${server.code.toString(16)}`;
}

/** What nodes of the tests say to a read, and what the read then shows. */
export const answer: Script = ({ stream }, peer) => {
  peer.rows(stream, ['a'], { icg: 1 });
  peer.confirm(stream);
};
export const VIEWS = ['preliminary a', 'confirm'];
/** The views of the plain way in these tests. */
export const PLAIN_VIEWS = ['preliminary plain', 'final plain'];

/**
 * The code of the error, the error as text if it is of another kind, or `undefined` if there is
 * none.
 */
export function failureOf(action: () => void): string | undefined {
  try {
    action();
    return undefined;
  } catch (error) {
    return error instanceof CqlError || isCorrectableError(error) ? error.code : String(error);
  }
}
