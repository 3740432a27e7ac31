/**
 * A real Cassandra cluster of ours: what it is made of, who reaches it, what becomes of it when
 * nodes die.
 */
import { expect, test } from 'vitest';
import cassandra from 'cassandra-driver';
import { NODE_SITES } from '../../engines/cassandra/layout.ts';
import type { Site } from '../../engines/wan.ts';
import { listeningAddresses } from './support/listening.ts';
import { medianMs } from './support/median.ts';
import { isShort, withCassandra } from './support/cassandra.ts';

const { all, one: item, quorum } = cassandra.types.consistencies;
const it = withCassandra();

async function makeTable(name: string): Promise<string> {
  const table = `${it.keyspace}.${name}`;
  await it.client('frankfurt').execute(`CREATE TABLE ${table} (key text PRIMARY KEY, value text)`);
  return table;
}

function write(at: Site, table: string, value: string, consistency: number): Promise<unknown> {
  const cql = `INSERT INTO ${table} (key, value) VALUES ('k', '${value}')`;
  return it.client(at).execute(cql, [], { consistency });
}

async function read(at: Site, table: string, consistency: number): Promise<unknown> {
  const { rows } = await it
    .client(at)
    .execute(`SELECT value FROM ${table} WHERE key = 'k'`, [], { consistency });
  return rows[0]?.['value'];
}

test('cluster: started → each node serves, reaches all, and is where the sites say', async () => {
  expect(await it.cluster.health()).toEqual({
    frankfurt: { inReach: 3 },
    ireland: { inReach: 3 },
    virginia: { inReach: 3 },
  });
  for (const [site, dataCenter, rack] of [
    ['frankfurt', 'eu', 'FRANKFURT'],
    ['ireland', 'eu', 'IRELAND'],
    ['virginia', 'us', 'VIRGINIA'],
  ] as const) {
    const { rows } = await it
      .client(site)
      .execute('SELECT data_center, rack, release_version FROM system.local');
    expect(rows[0]).toMatchObject({ data_center: dataCenter, rack, release_version: '5.0.9' });
  }
});

test('cluster: nothing listens off the loopback interface', (context) => {
  context.skip(process.platform !== 'linux', "Linux's tables of sockets are read");
  const { daemons, proxy } = it.cluster.state;
  const pids = [...Object.values(daemons), ...(proxy === undefined ? [] : [proxy])].map(
    ({ pid }) => pid,
  );
  expect(pids).toHaveLength(4);
  for (const pid of pids) {
    const addresses = listeningAddresses(pid);
    expect(addresses).not.toEqual([]);
    for (const address of addresses) expect(address).toMatch(/^127\./);
  }
  for (const site of NODE_SITES)
    expect(pids.flatMap(listeningAddresses)).toContain(it.cluster.address(site));
});

test("cluster: the paper's delays → one replica, a quorum and all take the trips that they need", async () => {
  const table = await makeTable('delays');
  await write('frankfurt', table, 'v', all);
  const cql = `SELECT value FROM ${table} WHERE key = 'k'`;
  const medianOf = (at: Site, from: Site, consistency: number): Promise<number> => {
    const client = it.client(at, from);
    return medianMs(15, () => client.execute(cql, [], { prepare: true, consistency }));
  };
  const beside = {
    one: await medianOf('frankfurt', 'frankfurt', item),
    quorum: await medianOf('frankfurt', 'frankfurt', quorum),
  };
  const farther = {
    all: await medianOf('frankfurt', 'frankfurt', all),
    fromIrl: await medianOf('frankfurt', 'ireland', item),
  };
  // A busy machine adds, and never takes away: the lower bounds are those of the wide area.
  expect(beside.quorum).toBeGreaterThan(19);
  expect(farther.all).toBeGreaterThan(89);
  expect(farther.fromIrl).toBeGreaterThan(19);
  expect(beside.one).toBeLessThan(Math.min(beside.quorum, farther.fromIrl));
  expect(beside.quorum).toBeLessThan(farther.all);
  expect(await medianOf('ireland', 'virginia', item)).toBeGreaterThan(82);
});

test('node: frozen → the others form a quorum; let go on → it has what it missed', async () => {
  const table = await makeTable('frozen');
  await write('frankfurt', table, 'before', all);
  it.cluster.pause('virginia');
  await write('frankfurt', table, 'meanwhile', quorum);
  expect(await read('ireland', table, quorum)).toBe('meanwhile');
  await expect(read('frankfurt', table, all)).rejects.toThrow(
    /timed out|timeout|not enough replicas/i,
  );
  it.cluster.resume('virginia');
  await it.cluster.untilReady();
  expect(await read('virginia', table, quorum)).toBe('meanwhile');
});

test('node: killed and restarted → the others serve meanwhile, its own data are kept', async (context) => {
  context.skip(isShort, 'nodes have to start again: not with --short');
  const table = await makeTable('killed');
  await write('frankfurt', table, 'kept', all);
  await it.cluster.kill('ireland');
  expect(it.cluster.isRunning('ireland')).toBe(false);
  expect((await it.cluster.health()).ireland).toBe('down');
  await write('frankfurt', table, 'kept', quorum);
  expect(await read('frankfurt', table, quorum)).toBe('kept');
  await it.cluster.restart('ireland');
  expect(await read('ireland', table, item)).toBe('kept');
  expect(await it.cluster.health()).toEqual({
    frankfurt: { inReach: 3 },
    ireland: { inReach: 3 },
    virginia: { inReach: 3 },
  });
});
