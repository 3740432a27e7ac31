/**
 * Starts three client processes, one for each region, each of which uses a remote replica
 * (Correctables, OSDI 2016, §6.2.1).
 */
import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { openGateway, type OpenedGateway } from '../../demo/shared/cassandra/gateway.ts';
import { openKeyspace, type Keyspace } from '../../demo/shared/cassandra/keyspace.ts';
import type { Site } from '../../engines/wan.ts';
import type { Settings } from '../harness/bench.ts';
import { processorTimeUs } from '../load/processor-time.ts';
import { openValidatedClientPool } from './validated-client-pool.ts';
import {
  REPORTED,
  type ClientOrder,
  type ClientSetup,
  type LoadOrder,
  type LoadReport,
  type TurnsOrder,
  type TurnsReport,
} from './messages.ts';
import { OBJECT, objectKeyOf, OBJECTS, paperBinding } from './systems.ts';
import type { ReadStrategy } from './read-strategy.ts';
import { fillRecords, TABLE } from './ycsb-table.ts';

/** The coordinator of the client beside each site. */
export const COORDINATORS: Readonly<Record<Site, Site>> = {
  ireland: 'frankfurt',
  frankfurt: 'virginia',
  virginia: 'ireland',
};

export interface ClientPoolOptions {
  readonly sites: readonly Site[];
  readonly way: ReadStrategy;
  readonly countBytes?: boolean;
}

export interface ClientPool {
  /** Sends the same order to all clients at the same time. Only the seed differs. */
  load(order: Omit<LoadOrder, 'kind'>): Promise<ReadonlyMap<Site, LoadReport>>;
  /** Runs the order at the reported client. */
  takeTurns(order: Omit<TurnsOrder, 'kind'>): Promise<TurnsReport>;
  /** Processor time of each node so far, in microseconds; null if the system does not report it. */
  nodesUs(): Readonly<Partial<Record<Site, number | null>>>;
  close(): Promise<void>;
}

const OBJECT_TABLE =
  "CREATE TABLE correctables_values (key text PRIMARY KEY, value text) WITH speculative_retry = 'NONE'";

/** Starts the engine and the gateways unless they run, fills the tables, and starts the clients. */
export async function openClientPool(
  options: ClientPoolOptions,
  progress: Settings['progress'],
): Promise<ClientPool> {
  const { sites, way } = options;
  const tables = [TABLE, OBJECT_TABLE];
  const keyspace = await openKeyspace(
    { name: 'bench', tables, wan: 'paper', plugin: way === 3, coordinator: COORDINATORS[REPORTED] },
    progress,
  );
  const gateways: OpenedGateway[] = [];
  const clients = new Map<Site, Client>();
  const close = async (): Promise<void> => {
    await Promise.all([...clients.values()].map((client) => client.stop()));
    await Promise.all(gateways.map((gateway) => gateway.close()));
    await keyspace.close();
  };
  try {
    progress('filling the tables');
    await fillRecords(keyspace);
    await fillObjects(keyspace);
    for (const site of sites) {
      const setup = await createSetup(site, { keyspace, options, gateways });
      clients.set(site, await Client.start(setup));
    }
  } catch (error) {
    await close();
    throw error;
  }
  return openValidatedClientPool<ClientPool>({
    async load(order) {
      const reports = [...clients].map(async ([site, client], place) => {
        const report = await client.ask({
          ...order,
          kind: 'load',
          seed: order.seed + place * 104_729,
        });
        return [site, report as LoadReport] as const;
      });
      return new Map(await Promise.all(reports));
    },
    async takeTurns(order) {
      const client = clients.get(REPORTED);
      if (client === undefined) throw new RangeError(`there is no client beside ${REPORTED}`);
      return (await client.ask({ ...order, kind: 'turns' })) as TurnsReport;
    },
    nodesUs() {
      const daemons = Object.entries(keyspace.cluster.state.daemons);
      return Object.fromEntries(
        daemons.map(([site, daemon]) => [
          site,
          daemon === undefined ? null : processorTimeUs(daemon.pid),
        ]),
      );
    },
    close,
  });
}

async function fillObjects(keyspace: Keyspace): Promise<void> {
  const value = JSON.stringify(OBJECT);
  const objects = Array.from({ length: OBJECTS }, (_, object) => [objectKeyOf(object), value]);
  await keyspace.fill('INSERT INTO correctables_values (key, value) VALUES (?, ?)', objects);
}

interface Place {
  readonly keyspace: Keyspace;
  readonly options: ClientPoolOptions;
  /** The gateways that were opened. */
  readonly gateways: OpenedGateway[];
}

async function createSetup(
  site: Site,
  { keyspace, options, gateways }: Place,
): Promise<ClientSetup> {
  const { way, countBytes = false } = options;
  const coordinator = COORDINATORS[site];
  const setup = {
    site,
    keyspace: keyspace.name,
    contactPoint: keyspace.cluster.address(coordinator, site),
    oneRequest: way === 3,
    countBytes,
  };
  if (way !== 2) return setup;
  const urlOf = async (readQuorum: 2 | 3): Promise<string> => {
    const contactPoint = keyspace.cluster.address(coordinator);
    const binding = paperBinding({
      readQuorum,
      contactPoint,
      keyspace: keyspace.name,
      oneRequest: false,
    });
    const gateway = await openGateway({ binding, coordinator, client: site, wan: 'paper' });
    gateways.push(gateway);
    return gateway.url;
  };
  return { ...setup, gateways: { 2: await urlOf(2), 3: await urlOf(3) } };
}

/** A client process. */
class Client {
  readonly #process: ChildProcess;

  constructor(child: ChildProcess) {
    this.#process = child;
  }

  static async start(setup: ClientSetup): Promise<Client> {
    const script = fileURLToPath(new URL('client.ts', import.meta.url));
    const child = fork(script, [JSON.stringify(setup)], {
      execArgv: ['--import', 'tsx'],
      serialization: 'advanced',
    });
    const client = new Client(child);
    await client.#answer();
    return client;
  }

  async ask(order: ClientOrder): Promise<unknown> {
    const answered = this.#answer();
    this.#process.send(order);
    const answer = (await answered) as { readonly error?: string };
    if (answer.error === undefined) return answer;
    throw new Error(`a client of the benchmark failed: ${answer.error}`);
  }

  async stop(): Promise<void> {
    if (this.#process.exitCode !== null) return;
    const exited = once(this.#process, 'exit');
    if (this.#process.connected) this.#process.disconnect();
    await exited;
  }

  #answer(): Promise<unknown> {
    return new Promise((resolve, reject) => {
      const onExit = (code: number | null): void =>
        reject(new Error(`a client process of the benchmark ended with ${code}`));
      this.#process.once('exit', onExit);
      this.#process.once('message', (message) => {
        this.#process.off('exit', onExit);
        resolve(message);
      });
    });
  }
}
