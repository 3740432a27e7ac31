/**
 * A client whose reads and transactions are timed, in turn through the binding and by `pg` alone.
 */
import type { Pool, PoolClient } from 'pg';
import { createClient, type Client } from 'correctables';
import { postgres, type ReplicaLevels } from 'correctables/bindings/postgres';
import { get, put } from 'correctables/operations';
import { transaction } from 'correctables/transactions';
import type { PostgresServers } from '../../engines/postgres/servers.ts';
import { median } from '../harness/statistics.ts';
import type { ReadTimes, TransactionTimes } from './goals.ts';
import { openPool } from './open-pool.ts';

const KEY = 'bench';
const VALUE = 'v'.repeat(98); // 100 bytes as JSON
const ACCOUNTS = ['bench-from', 'bench-to'] as const;
const READ = {
  name: 'bench_read',
  text: 'select key, value from correctables_values where key = $1',
  values: [KEY],
};
const READ_BOTH = {
  name: 'bench_both',
  text: 'select key, value from correctables_values where key = any($1) order by key for update',
  values: [ACCOUNTS],
};
const writeOne = (key: string, cents: number) => ({
  name: 'bench_write',
  text: 'update correctables_values set value = $2 where key = $1',
  values: [key, JSON.stringify(cents)],
});

export class Contender {
  readonly #replica: Pool;
  readonly #primary: Pool;
  readonly #client: Client<ReplicaLevels>;

  constructor(servers: PostgresServers, nearest: string) {
    const primary = { ...servers.connection('primary'), idleTimeoutMillis: 0 };
    const replica = { ...servers.connection(nearest), idleTimeoutMillis: 0 };
    this.#replica = openPool(replica);
    this.#primary = openPool(primary);
    this.#client = createClient(postgres({ primary, replicas: [replica] }));
  }

  static async open(servers: PostgresServers, nearest: string): Promise<Contender> {
    const contender = new Contender(servers, nearest);
    await contender.#client.invoke(put(KEY, VALUE));
    for (const account of ACCOUNTS) await contender.#client.invoke(put(account, 0));
    await servers.untilCaughtUp(nearest);
    return contender;
  }

  async measureReads(operations: number): Promise<ReadTimes> {
    const [plainReplica, plainPrimary, preliminary, final]: [
      number[],
      number[],
      number[],
      number[],
    ] = [[], [], [], []];
    for (let n = 0; n < operations; n += 1) {
      plainReplica.push(await timed(() => this.#replica.query(READ)));
      plainPrimary.push(await timed(() => this.#primary.query(READ)));
      const from = performance.now();
      for await (const view of this.#client.invoke(get(KEY)))
        (view.final ? final : preliminary).push(performance.now() - from);
    }
    return {
      plainReplicaMs: median(plainReplica),
      plainPrimaryMs: median(plainPrimary),
      preliminaryMs: median(preliminary),
      finalMs: median(final),
      preliminaryViews: preliminary.length,
    };
  }

  async measureTransactions(operations: number): Promise<TransactionTimes> {
    const [own, plain, pipelined]: [number[], number[], number[]] = [[], [], []];
    for (let n = 0; n < operations; n += 1) {
      own.push(await timed(() => this.#transfer()));
      plain.push(await timed(() => this.#withClient(transferPlainly)));
      pipelined.push(await timed(() => this.#withClient(transferPipelined)));
    }
    return {
      transactionMs: median(own),
      beginCommitMs: median(plain),
      pipelinedMs: median(pipelined),
    };
  }

  async close(): Promise<void> {
    await Promise.all([this.#client.close(), this.#replica.end(), this.#primary.end()]);
  }

  #transfer(): PromiseLike<unknown> {
    return transaction(this.#client, async (tx) => {
      const [from = 0, to = 0] = await tx.getMany<number>([...ACCOUNTS]);
      tx.put(ACCOUNTS[0], from - 1);
      tx.put(ACCOUNTS[1], to + 1);
    });
  }

  async #withClient(body: (client: PoolClient) => Promise<void>): Promise<void> {
    const client = await this.#primary.connect();
    try {
      await body(client);
    } finally {
      client.release();
    }
  }
}

async function transferPlainly(client: PoolClient): Promise<void> {
  await client.query('begin');
  const [from = 0, to = 0] = toCents(await client.query(READ_BOTH));
  await client.query(writeOne(ACCOUNTS[0], from - 1));
  await client.query(writeOne(ACCOUNTS[1], to + 1));
  await client.query('commit');
}

async function transferPipelined(client: PoolClient): Promise<void> {
  const [, found] = await Promise.all([client.query('begin'), client.query(READ_BOTH)]);
  const [from = 0, to = 0] = toCents(found);
  const writes = [
    client.query(writeOne(ACCOUNTS[0], from - 1)),
    client.query(writeOne(ACCOUNTS[1], to + 1)),
  ];
  await Promise.all([...writes, client.query('commit')]);
}

function toCents({ rows }: { readonly rows: readonly { readonly value: unknown }[] }): number[] {
  return rows.map(({ value }) => value as number);
}

async function timed(action: () => PromiseLike<unknown>): Promise<number> {
  const from = performance.now();
  await action();
  return performance.now() - from;
}
