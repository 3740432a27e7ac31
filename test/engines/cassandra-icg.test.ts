/**
 * Correctable Cassandra on the wire (docs/spec/cassandra-icg.md): what is asked, what is answered,
 * in which order.
 */
// @rule ICG-2, ICG-3, ICG-6, ICG-7, ICG-10, ICG-1, ICG-12
import cassandra from 'cassandra-driver';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { clientOf } from '../../engines/cassandra/ask.ts';
import { codes, counters, define, read, text } from './support/icg.ts';
import { RawCql, type Answer, type Ask } from './support/raw-cql.ts';
import { withCassandra } from './support/cassandra.ts';

const { types } = cassandra;
const on = withCassandra();

/**
 * One replica in Frankfurt or Ireland, one in Virginia: each node of `eu` coordinates half of the
 * keys without a copy.
 */
const FAR = `{'class': 'NetworkTopologyStrategy', 'eu': 1, 'us': 1}`;

/** So many preliminaries in time, one after the other. */
const WARM = 30;

let frankfurt: RawCql;
let byKey: Buffer;
const table = (name: string): string => `${on.keyspace}.${name}`;

beforeAll(async () => {
  if (missing()) return;
  frankfurt = await RawCql.connect(on.cluster.address('frankfurt'));
  await define(
    frankfurt,
    `CREATE TABLE ${table('kv')} (k text PRIMARY KEY, v text)`,
    `CREATE TABLE ${table('many')} (k text, c int, v text, s text static, PRIMARY KEY (k, c))`,
    `CREATE TABLE ${table('grows')} (k text PRIMARY KEY, v text)`,
    `CREATE KEYSPACE ${on.keyspace}_far WITH replication = ${FAR}`,
    `CREATE TABLE ${on.keyspace}_far.kv (k text PRIMARY KEY, v text)`,
  );
  await frankfurt.run(`INSERT INTO ${table('kv')} (k, v) VALUES ('a', 'apple')`, {
    consistency: 'all',
  });
  for (let c = 0; c < 5; c += 1) {
    const values = [text('a'), Buffer.of(0, 0, 0, c), text(`v${c}`), text('shared')];
    await frankfurt.run(`INSERT INTO ${table('many')} (k, c, v, s) VALUES (?, ?, ?, ?)`, {
      values,
      consistency: 'all',
    });
  }
  byKey = await frankfurt.prepare(`SELECT v FROM ${table('kv')} WHERE k = ?`);
  await warmUp();
});
afterAll(async () => await frankfurt?.[Symbol.asyncDispose]());

function missing(): boolean {
  try {
    return on.cluster === undefined;
  } catch {
    return true; // The tools are missing: each test fails with that.
  }
}

function readApple(ask: Ask = {}): Promise<Answer[]> {
  return frankfurt.execute(byKey, {
    values: [text('a')],
    consistency: 'quorum',
    skipMetadata: true,
    ...ask,
  });
}

/**
 * The first preliminaries of a node load code and start threads: they may be late for their finals,
 * and are left out.
 */
async function warmUp(): Promise<void> {
  for (let inTime = 0; inTime < WARM;)
    inTime = (await readApple({ icg: 1 })).length > 1 ? inTime + 1 : 0;
}

describe('asking', () => {
  test("OPTIONS → lists the versions that can be requested, beside Cassandra's own options", async () => {
    const options = await frankfurt.options();
    expect(options['CORRECTABLES_ICG']).toEqual(['1']);
    expect(options['CQL_VERSION']).toHaveLength(1);
  });

  test('mode confirm: equal → preliminary, then a confirmation of 25 bytes', async () => {
    const [early, final] = await readApple({ icg: 1 });
    expect(early).toMatchObject({ icg: 1, kind: 'rows', hasMetadata: false });
    expect(read(early)).toEqual([['apple']]);
    expect(final).toMatchObject({ icg: 2, kind: 'void', bytes: 25 });
  });

  test('mode full: equal → both with rows', async () => {
    const answers = await readApple({ icg: 2 });
    expect(codes(answers)).toEqual([1, 4]);
    expect(answers.map(read)).toEqual([[['apple']], [['apple']]]);
  });

  test.each([5, 6])(
    'mode %d, aside: → the preliminary on the stream -(stream + 2)',
    async (icg) => {
      const before = frankfurt.aside.length;
      const [final, ...others] = await readApple({ icg });
      const [early] = frankfurt.aside.slice(before);
      expect(others).toEqual([]);
      expect(early).toMatchObject({ icg: 1, stream: -((final?.stream ?? 0) + 2) });
      expect(read(early)).toEqual([['apple']]);
      expect(final?.icg).toBe(icg === 5 ? 2 : 4);
    },
  );

  test.each([undefined, 0, 3, 4, 7, 8, 129])(
    'payload %s: not asking → one normal answer',
    async (icg) => {
      const answers = await readApple(icg === undefined ? {} : { icg });
      expect(answers).toHaveLength(1);
      expect(answers[0]).toMatchObject({ icg: undefined, kind: 'rows' });
      expect(read(answers[0])).toEqual([['apple']]);
    },
  );

  test('QUERY: asks too → preliminary with metadata, confirmation', async () => {
    const answers = await frankfurt.query(`SELECT v FROM ${table('kv')} WHERE k = 'a'`, {
      icg: 1,
      consistency: 'all',
    });
    expect(codes(answers)).toEqual([1, 2]);
    expect(answers[0]?.hasMetadata).toBe(true);
  });

  test('nothing there → an empty preliminary, confirmed', async () => {
    const answers = await readApple({ icg: 1, values: [text('unknown')] });
    expect(codes(answers)).toEqual([1, 2]);
    expect(read(answers[0])).toEqual([]);
  });
});

describe('the preliminary of each covered statement: the final of plain Cassandra, byte by byte', () => {
  const statements = [
    `SELECT * FROM many WHERE k = 'a'`,
    `SELECT * FROM many WHERE k = 'a' ORDER BY c DESC LIMIT 2`,
    `SELECT v, writetime(v), c + 1 FROM many WHERE k = 'a' AND c >= 1 AND c < 4`,
    `SELECT JSON * FROM many WHERE k = 'a' PER PARTITION LIMIT 3`,
    `SELECT DISTINCT k, s FROM many WHERE k = 'a'`,
    `SELECT * FROM many WHERE k IN ('a') ORDER BY c DESC`,
    `SELECT c FROM many WHERE k = 'a' AND v = 'v3' ALLOW FILTERING`,
    `SELECT k AS "Key", toJson(v) FROM many WHERE k = 'a' AND c IN (0, 4)`,
  ];

  test.each(statements)('%s', async (cql) => {
    const query = cql.replace('FROM many', `FROM ${table('many')}`);
    for (const ask of [{}, { pageSize: 100 }, { pageSize: 2 }] as const) {
      const [plain] = await frankfurt.query(query, { ...ask, consistency: 'quorum' });
      const [early, final] = await frankfurt.query(query, {
        ...ask,
        consistency: 'quorum',
        icg: 1,
      });
      expect(plain?.error).toBeUndefined();
      expect(early?.body).toEqual(plain?.body);
      expect([early?.icg, final?.icg]).toEqual([1, 2]);
    }
  });

  test('LIMIT by a bind marker, first page of two → as plain, with the same next page', async () => {
    const limited = await frankfurt.prepare(`SELECT c FROM ${table('many')} WHERE k = ? LIMIT ?`);
    const ask: Ask = {
      values: [text('a'), Buffer.of(0, 0, 0, 4)],
      consistency: 'quorum',
      pageSize: 3,
    };
    const [plain] = await frankfurt.execute(limited, ask);
    const [early, final] = await frankfurt.execute(limited, { ...ask, icg: 1 });
    expect(early?.body).toEqual(plain?.body);
    expect(final?.icg).toBe(2);
    const pagingState = early?.pagingState;
    if (pagingState === undefined) throw new Error('the preliminary has no next page');
    const next = await frankfurt.execute(limited, { ...ask, pagingState, icg: 1 });
    expect(next.map(({ icg, rows }) => [icg, rows.length])).toEqual([[undefined, 1]]);
  });

  test('a table that grew a column: EXECUTE without metadata → as plain', async () => {
    await frankfurt.run(`INSERT INTO ${table('grows')} (k, v) VALUES ('a', '1')`, {
      consistency: 'all',
    });
    const all = await frankfurt.prepare(`SELECT * FROM ${table('grows')} WHERE k = ?`);
    await define(frankfurt, `ALTER TABLE ${table('grows')} ADD w text`);
    const ask: Ask = { values: [text('a')], consistency: 'quorum', skipMetadata: true };
    const [plain] = await frankfurt.execute(all, ask);
    const [early, ...rest] = await frankfurt.execute(all, { ...ask, icg: 1 });
    expect(early?.body).toEqual(plain?.body);
    expect(codes(rest)).toEqual(plain?.kind === 'error' ? [] : [2]);
  });
});

describe('not covered: one normal answer', () => {
  const statements: [what: string, cql: string, ask?: Ask][] = [
    ['consistency ONE', `SELECT * FROM kv WHERE k = 'a'`, { consistency: 'one' }],
    ['consistency LOCAL_ONE', `SELECT * FROM kv WHERE k = 'a'`, { consistency: 'localOne' }],
    ['consistency SERIAL', `SELECT * FROM kv WHERE k = 'a'`, { consistency: 'serial' }],
    ['several partitions', `SELECT * FROM kv WHERE k IN ('a', 'b')`],
    ['a range', `SELECT * FROM kv`],
    ['a count', `SELECT count(*) FROM many WHERE k = 'a'`],
    ['a group', `SELECT k, max(c) FROM many WHERE k = 'a' GROUP BY k`],
    ['a write', `INSERT INTO kv (k, v) VALUES ('u', '1')`],
    ['a write with a condition', `INSERT INTO kv (k, v) VALUES ('a', '1') IF NOT EXISTS`],
    ['a table of one node', `SELECT * FROM system.local WHERE key = 'local'`],
    ['a virtual table', `SELECT * FROM system_views.settings WHERE name = 'cluster_name'`],
    ['a definition', `CREATE TABLE IF NOT EXISTS kv (k text PRIMARY KEY, v text)`],
    ['nonsense', `SELECT nothing FROM kv WHERE k = 'a'`],
  ];

  test.each(statements)('%s', async (_, cql, ask) => {
    const query = cql.replace(/(?<=(FROM|INTO|EXISTS) )(kv|many)\b/, (name) => table(name));
    const options = { consistency: 'quorum', ...ask } as const;
    const plain = await frankfurt.query(query, options);
    const answers = await frankfurt.query(query, { ...options, icg: 1 });
    expect(answers.map(({ icg, body }) => ({ icg, body }))).toEqual([
      { icg: undefined, body: plain[0]?.body },
    ]);
  });

  test('an unprepared statement → the error of plain Cassandra', async () => {
    const id = Buffer.alloc(16, 7);
    const [plain] = await frankfurt.execute(id, { consistency: 'quorum' });
    const answers = await frankfurt.execute(id, { consistency: 'quorum', icg: 1 });
    expect(answers.map(({ body }) => body)).toEqual([plain?.body]);
    expect(plain?.error?.code).toBe(0x2500);
  });

  test('counted → Uncovered grows, Preliminaries does not', async () => {
    const before = await counters(frankfurt);
    await readApple({ icg: 1, consistency: 'one' });
    const after = await counters(frankfurt);
    expect(after['Uncovered']).toBe((before['Uncovered'] ?? 0) + 1);
    expect(after['Preliminaries']).toBe(before['Preliminaries']);
  });
});

describe('what a coordinator does besides', () => {
  test('tracing → its id with the final, each step of a quorum read in the trace', async () => {
    const [early, final] = await readApple({ icg: 1, tracing: true });
    expect([early?.icg, final?.icg]).toEqual([1, 2]);
    expect(early?.trace).toBeUndefined();
    const values = [final?.trace ?? null];
    const steps = async (): Promise<unknown> => {
      const events = await frankfurt.run(
        'SELECT activity FROM system_traces.events WHERE session_id = ?',
        { values },
      );
      return read(events).flat();
    };
    await expect.poll(steps).toContainEqual(expect.stringMatching(/^reading digest from /));
    await expect
      .poll(steps)
      .toContainEqual(expect.stringMatching(/^READ_REQ message received from /));
  });

  test('metrics: one read that asks → counted as one read, at its level', async () => {
    const before = await readsOf(table('kv'));
    for (let n = 0; n < 10; n += 1) await readApple({ icg: 1 });
    expect(await readsOf(table('kv'))).toBe(before + 10);
  });

  test('counters: equal finals → Preliminaries and Confirmed grow by as many', async () => {
    const before = await counters(frankfurt);
    await readApple({ icg: 1 });
    await readApple({ icg: 2 });
    const after = await counters(frankfurt);
    const growth = Object.keys(after).map(
      (name) => [name, (after[name] ?? 0) - (before[name] ?? 0)] as const,
    );
    expect(growth.filter(([, by]) => by !== 0)).toEqual([
      ['Confirmed', 2],
      ['Preliminaries', 2],
    ]);
  });

  /** How many reads of a table this node has coordinated. */
  async function readsOf(name: string): Promise<number> {
    const [keyspace, of] = name.split('.');
    const cql = `SELECT count FROM system_views.coordinator_read_latency WHERE keyspace_name = ? AND table_name = ?`;
    const { rows } = await frankfurt.run(cql, { values: [text(keyspace ?? ''), text(of ?? '')] });
    return Number(rows[0]?.[0]?.readBigInt64BE() ?? 0n);
  }
});

test("the paper's delays: the next replica is 10 ms away → half of the wait is over with the preliminary", async () => {
  const waits: { readonly early: number; readonly final: number }[] = [];
  for (let n = 0; n < 30; n += 1) {
    const from = performance.now();
    const [early, final] = await readApple({ icg: 1 });
    waits.push({
      early: (early?.arrivedAt ?? Infinity) - from,
      final: (final?.arrivedAt ?? 0) - from,
    });
  }
  const median = (of: 'early' | 'final'): number =>
    waits.map((wait) => wait[of]).sort((a, b) => a - b)[15] ?? NaN;
  expect(median('early')).toBeLessThan(median('final') / 2);
});

test('no replica: the closest one that is → preliminary from it', async () => {
  const ireland = await RawCql.connect(on.cluster.address('ireland'));
  for (let n = 0; n < 20; n += 1) {
    await frankfurt.run(`INSERT INTO ${on.keyspace}_far.kv (k, v) VALUES ('${n}', 'far ${n}')`, {
      consistency: 'all',
    });
    for (const coordinator of [frankfurt, ireland]) {
      const query = `SELECT v FROM ${on.keyspace}_far.kv WHERE k = '${n}'`;
      const ask = (): Promise<Answer[]> =>
        coordinator.query(query, { consistency: 'all', icg: 1, tracing: true });
      // It is made beside the read: on a busy machine, or for the first time, it may be late for
      // the final.
      await expect.poll(async () => codes(await ask())).toEqual([1, 2]);
      const [first] = await ask();
      expect(read(first)).toEqual([[`far ${n}`]]);
    }
  }
  await ireland[Symbol.asyncDispose]();
});

describe('many at once', () => {
  test('several connections, hundreds in flight → each preliminary before its final, none astray', async () => {
    const clients = await Promise.all(
      Array.from({ length: 4 }, () => RawCql.connect(on.cluster.address('frankfurt'))),
    );
    const worker = async (client: RawCql, index: number): Promise<void> => {
      const id = await client.prepare(`SELECT v FROM ${table('kv')} WHERE k = ?`);
      for (let round = 0; round < 10; round += 1) {
        const reads = Array.from({ length: 100 }, (_, n) => {
          const icg = (n + index) % 2 === 0 ? 1 : 2;
          return client.execute(id, { values: [text('a')], consistency: 'quorum', icg });
        });
        for (const answers of await Promise.all(reads)) {
          expect(codes(answers)[0]).toBe(answers.length === 2 ? 1 : undefined);
          expect(answers.length).toBeLessThanOrEqual(2);
        }
      }
    };
    await Promise.all(clients.map(worker));
    expect(clients.flatMap((client) => client.aside)).toEqual([]);
    await Promise.all(clients.map((client) => client[Symbol.asyncDispose]()));
  });

  test('a client that does not read → no more preliminaries for it, all finals, in full', async () => {
    const large = 'x'.repeat(100_000);
    await frankfurt.run(`INSERT INTO ${table('kv')} (k, v) VALUES ('large', ?)`, {
      values: [text(large)],
      consistency: 'all',
    });
    await using slow = await RawCql.connect(on.cluster.address('frankfurt'));
    const id = await slow.prepare(`SELECT v FROM ${table('kv')} WHERE k = ?`);
    const before = await counters(frankfurt);
    slow.pause();
    // How much the kernel takes before the server notices differs from machine to machine: so ask
    // until it has.
    const reads: Promise<Answer[]>[] = [];
    const askMore = async (): Promise<number> => {
      const ask: Ask = { values: [text('large')], consistency: 'quorum', icg: 1 };
      for (let n = 0; n < 100; n += 1) reads.push(slow.execute(id, ask));
      return await skipped(before);
    };
    await expect.poll(askMore, { interval: 500 }).toBeGreaterThan(100);
    slow.resume();
    for (const answers of await Promise.all(reads)) {
      expect(answers.some(({ rows }) => rows[0]?.[0]?.length === large.length)).toBe(true);
      expect([[1, 2], [undefined]]).toContainEqual(codes(answers));
    }
    expect(await skipped(before)).toBeLessThan(reads.length);
  });

  async function skipped(before: Readonly<Record<string, number>>): Promise<number> {
    return ((await counters(frankfurt))['Unwritable'] ?? 0) - (before['Unwritable'] ?? 0);
  }
});

describe('the stock driver, which knows nothing of it', () => {
  test('reads and writes → results, no payload', async () => {
    const client = clientOf(on.cluster.address('frankfurt').split(':')[0] ?? '', on.cluster.access);
    const options = { prepare: true, consistency: types.consistencies.quorum };
    await client.execute(
      `INSERT INTO ${table('kv')} (k, v) VALUES (?, ?)`,
      ['d', 'driver'],
      options,
    );
    const { rows, info } = await client.execute(
      `SELECT v FROM ${table('kv')} WHERE k = ?`,
      ['d'],
      options,
    );
    expect(rows[0]?.['v']).toBe('driver');
    expect(info.customPayload).toBeUndefined();
    await client.shutdown();
  });

  test('asking aside → the final on its stream, undisturbed by preliminaries', async () => {
    const client = clientOf(on.cluster.address('frankfurt').split(':')[0] ?? '', on.cluster.access);
    const before = await counters(frankfurt);
    const options = {
      prepare: true,
      consistency: types.consistencies.quorum,
      customPayload: { icg: Buffer.of(6) },
    };
    const query = `SELECT v FROM ${table('kv')} WHERE k = ?`;
    const results = await Promise.all(
      Array.from({ length: 50 }, () => client.execute(query, ['a'], options)),
    );
    for (const { rows, info } of results) {
      expect(rows[0]?.['v']).toBe('apple');
      expect(info.customPayload).toEqual({ icg: Buffer.of(4) });
    }
    expect((await counters(frankfurt))['Preliminaries']).toBe((before['Preliminaries'] ?? 0) + 50);
    await client.shutdown();
  });
});

test('after all that → no preliminary broke', async () => {
  expect((await counters(frankfurt))['Broken']).toBe(0);
});
