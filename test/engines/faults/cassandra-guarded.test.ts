/**
 * The faults of a store, on one node of Cassandra with logins, a limit of connections and one of
 * the disk.
 */
import { randomBytes } from 'node:crypto';
import { connect, type Socket } from 'node:net';
import { afterAll, beforeAll, expect } from 'vitest';
import {
  cassandra as bind,
  getKeyValueTableCql,
  type CassandraAlarm,
} from '../../../src/bindings/cassandra/index.ts';
import { createClient, type Client, type CorrectableError } from '../../../src/index.ts';
import { get, put } from '../../../src/operations/index.ts';
import { withCassandra } from '../support/cassandra.ts';
import { SilentRoute } from '../support/silent-route.ts';
import { cassandra } from './columns/cassandra.ts';
import { describeFaults, expectRecovery } from './support/matrix.ts';

const MAX_CONNECTIONS = 40;
const DISK_FULL_BYTES = 24 * 2 ** 20;

const it = withCassandra({
  authentication: true,
  settings: [
    `native_transport_max_concurrent_connections: ${MAX_CONNECTIONS}`,
    'data_disk_usage_max_disk_size: 96MiB',
    `data_disk_usage_percentage_fail_threshold: ${(100 * DISK_FULL_BYTES) / (96 * 2 ** 20)}`,
    'roles_validity: 200ms',
    'credentials_validity: 200ms',
  ],
  javaFlags: ['-Dcassandra.disk_usage.monitor_interval_ms=200'],
});
const TIMEOUT_MS = 5_000;

type Store = Client<readonly ['weak', 'strong']>;
const opened: Store[] = [];

beforeAll(async () => {
  if (!it.isThere) return;
  const admin = it.client('frankfurt');
  await admin.execute(getKeyValueTableCql({ keyspace: it.keyspace }));
  await admin.execute("CREATE ROLE clerk WITH PASSWORD = 'paper' AND LOGIN = true");
  await admin.execute(`GRANT ALL ON KEYSPACE ${it.keyspace} TO clerk`);
});
afterAll(() => Promise.all(opened.map((client) => client.close())));

function open(address = it.cluster.address('frankfurt'), alarms: CassandraAlarm[] = []): Store {
  const binding = bind({
    contactPoints: [address],
    translateAddress: () => address,
    keyspace: it.keyspace,
    credentials: { username: 'clerk', password: 'paper' },
    requestTimeoutMs: 4_000,
    onAlarm: (alarm) => alarms.push(alarm),
  });
  const client = createClient(binding, { timeoutMs: TIMEOUT_MS });
  opened.push(client);
  return client;
}

/** How an operation ended: `done`, or the code of its error and whether it may be retried. */
async function getOutcome(operation: PromiseLike<unknown>): Promise<string> {
  return await operation.then(
    () => 'done',
    (error: unknown) => {
      const { code, retryable } = error as CorrectableError;
      return `${code} ${retryable}`;
    },
  );
}

/** Alters the role. Cassandra changes a password once in 5 s at most. */
async function alterRole(change: string): Promise<void> {
  const admin = it.client('frankfurt');
  const alter = (): Promise<string> => getOutcome(admin.execute(`ALTER ROLE clerk WITH ${change}`));
  await expect.poll(alter, { timeout: 15_000, interval: 500 }).toBe('done');
}

async function expectWorking(client: Store, key: string): Promise<void> {
  await expectRecovery(TIMEOUT_MS, async () => {
    await client.invoke(put(key, 'works'));
    expect(await client.invoke(get(key))).toBe('works');
  });
}

describeFaults(cassandra, {
  credentials: async () => {
    await using route = await SilentRoute.open(it.cluster.address('frankfurt'));
    const alarms: CassandraAlarm[] = [];
    const client = open(route.address, alarms);
    await expectWorking(client, 'credentials');
    for (const [wrong, right] of [
      ["PASSWORD = 'scissors'", "PASSWORD = 'paper'"],
      ['LOGIN = false', 'LOGIN = true'],
    ] as const) {
      await alterRole(wrong);
      await expect
        .poll(
          async () => {
            route.closeAll();
            return await getOutcome(client.invoke(put('credentials', 'refused')));
          },
          { timeout: 30_000, interval: 200 },
        )
        .toBe('UNAUTHENTICATED false');
      expect(alarms.splice(0)).toMatchObject([{ code: 'access-refused' }]);
      await alterRole(right);
      await expectWorking(client, 'credentials');
    }
    await client.close();
  },

  connections: async () => {
    const before = open();
    await expectWorking(before, 'connections');
    const sockets: Socket[] = [];
    const [host, port] = it.cluster.address('frankfurt').split(':') as [string, string];
    for (let n = 0; n < MAX_CONNECTIONS; n += 1) {
      const socket = connect(Number(port), host);
      socket.on('error', () => {});
      sockets.push(socket);
    }
    await expect
      .poll(() => sockets.some(({ destroyed }) => destroyed), { timeout: 10_000 })
      .toBe(true);
    const after = open();
    await expect(after.invoke(put('connections', 'refused'))).rejects.toMatchObject({
      code: 'UNAVAILABLE',
      retryable: true,
    });
    expect(await before.invoke(get('connections'))).toBe('works');
    for (const socket of sockets) socket.destroy();
    await expectWorking(after, 'connections');
  },

  space: async () => {
    const client = open();
    const admin = it.client('frankfurt');
    await expectWorking(client, 'space');
    await admin.execute(`CREATE TABLE ${it.keyspace}.large (id int PRIMARY KEY, body blob)`);
    const insert = `INSERT INTO ${it.keyspace}.large (id, body) VALUES (?, ?)`;
    const body = randomBytes(2 ** 20);
    for (let id = 0; id < DISK_FULL_BYTES / body.length; id += 1)
      await admin.execute(insert, [id, body], { prepare: true });
    await expect
      .poll(() => getOutcome(client.invoke(put('space', 'refused'))), {
        timeout: 30_000,
        interval: 100,
      })
      .toBe('OVERLOADED true');
    expect(await client.invoke(get('space'))).not.toBeUndefined();
    await admin.execute(`TRUNCATE ${it.keyspace}.large`);
    await expectWorking(client, 'space');
  },
});
