/**
 * Correctable Cassandra where replicas differ, are slow, are gone, and where not everybody may see
 * everything.
 */
// @rule ICG-4, ICG-5, ICG-9
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { SUPERUSER } from '../../engines/cassandra/cluster.ts';
import { codes, counters, define, FAULTY, read, text, withOwnCassandra } from './support/icg.ts';
import { RawCql, type Answer, type Ask } from './support/raw-cql.ts';

const READ_TIMEOUT = 0x1200;
const READ_FAILURE = 0x1300;
const UNAVAILABLE = 0x1000;
const UNAUTHORIZED = 0x2100;

const on = withOwnCassandra(FAULTY);

let frankfurt: RawCql;
let ireland: RawCql;
const table = (name: string): string => `${on?.keyspace ?? ''}.${name}`;

beforeAll(async () => {
  if (cluster() === undefined) return;
  frankfurt = await login('frankfurt');
  ireland = await login('ireland');
  const replication = cluster()?.replication ?? '';
  await define(
    frankfurt,
    `CREATE TABLE ${table('kv')} (k text PRIMARY KEY, v text) WITH speculative_retry = 'NONE'`,
    `CREATE TABLE ${table('eager')} (k text PRIMARY KEY, v text) WITH speculative_retry = '50ms'`,
    `CREATE TABLE ${table('raced')} (k text PRIMARY KEY, v text) WITH speculative_retry = 'ALWAYS'`,
    `CREATE TABLE ${table('pages')} (k text, c int, v text, PRIMARY KEY (k, c))`,
    `CREATE TABLE ${table('people')} (k text PRIMARY KEY, email text MASKED WITH DEFAULT)`,
    `CREATE KEYSPACE audited WITH replication = ${replication}`,
    'CREATE TABLE audited.kv (k text PRIMARY KEY, v text)',
    ...['outsider', 'guest', 'clerk'].map(
      (role) => `CREATE ROLE ${role} WITH LOGIN = true AND PASSWORD = '${role}'`,
    ),
    `GRANT SELECT ON TABLE ${table('people')} TO guest`,
    `GRANT SELECT ON TABLE ${table('people')} TO clerk`,
    `GRANT UNMASK ON TABLE ${table('people')} TO clerk`,
  );
  await write('kv', 'a', 'apple', 'all');
  await write('eager', 'a', 'apple', 'all');
  await frankfurt.run(
    `INSERT INTO ${table('people')} (k, email) VALUES ('ada', 'ada@example.org')`,
    {
      consistency: 'all',
    },
  );
});
afterAll(async () => {
  await frankfurt?.[Symbol.asyncDispose]();
  await ireland?.[Symbol.asyncDispose]();
});

function cluster(): NonNullable<typeof on>['cluster'] | undefined {
  try {
    return on?.cluster;
  } catch {
    return undefined; // The tools are missing: each test fails with that.
  }
}

function login(site: 'frankfurt' | 'ireland', role: string = SUPERUSER.username): Promise<RawCql> {
  return RawCql.connect(cluster()?.address(site) ?? '', { username: role, password: role });
}

function write(
  name: string,
  key: string,
  value: string,
  consistency: Ask['consistency'],
  at = frankfurt,
): Promise<Answer> {
  const values = [text(key), text(value)];
  return at.run(`INSERT INTO ${table(name)} (k, v) VALUES (?, ?)`, {
    values,
    consistency: consistency ?? 'all',
  });
}

function select(name: string, key: string, ask: Ask): Promise<Answer[]> {
  return frankfurt.query(`SELECT v FROM ${table(name)} WHERE k = ?`, {
    consistency: 'quorum',
    ...ask,
    values: [text(key)],
  });
}

/** What one node's own replica has. */
async function own(key: string, at: RawCql): Promise<unknown> {
  const [answer] = await at.query(`SELECT v FROM ${table('kv')} WHERE k = '${key}'`, {
    consistency: 'nodeLocal',
  });
  return read(answer);
}

describe('replicas that differ', () => {
  test('newer elsewhere → the old value, then the new one; then the coordinator has it too', async () => {
    await write('kv', 'newer', 'old', 'all');
    await write('kv', 'newer', 'new', 'nodeLocal', ireland);
    const answers = await select('kv', 'newer', { icg: 1 });
    expect(codes(answers)).toEqual([1, 3]);
    expect(answers.map(read)).toEqual([[['old']], [['new']]]);
    expect(await own('newer', frankfurt)).toEqual([['new']]);
    expect(codes(await select('kv', 'newer', { icg: 1 }))).toEqual([1, 2]);
  });

  test('newer here → confirmed after all, and the others have it', async () => {
    await write('kv', 'here', 'old', 'all');
    await write('kv', 'here', 'new', 'nodeLocal');
    const answers = await select('kv', 'here', { icg: 1 });
    expect(codes(answers)).toEqual([1, 2]);
    expect(read(answers[0])).toEqual([['new']]);
    expect(await own('here', ireland)).toEqual([['new']]);
  });

  test('deleted elsewhere → the row, then none', async () => {
    await write('kv', 'gone', 'there', 'all');
    await ireland.run(`DELETE FROM ${table('kv')} WHERE k = 'gone'`, { consistency: 'nodeLocal' });
    const answers = await select('kv', 'gone', { icg: 2 });
    expect(codes(answers)).toEqual([1, 3]);
    expect(answers.map(read)).toEqual([[['there']], []]);
  });

  test('counted → Diverged', async () => {
    const before = await counters(frankfurt);
    await write('kv', 'counted', 'new', 'nodeLocal', ireland);
    await select('kv', 'counted', { icg: 1 });
    expect((await counters(frankfurt))['Diverged']).toBe((before['Diverged'] ?? 0) + 1);
  });
});

describe('permissions of roles', () => {
  const query = (): string => `SELECT email FROM ${table('people')} WHERE k = 'ada'`;

  test('no permission → the error of plain Cassandra, nothing before it', async () => {
    await using unprivileged = await login('frankfurt', 'outsider');
    const id = await frankfurt.prepare(query());
    for (const ask of [{ consistency: 'quorum' }, { consistency: 'quorum', icg: 1 }] as const) {
      for (const answers of [
        await unprivileged.query(query(), ask),
        await unprivileged.execute(id, ask),
      ]) {
        expect(answers.map(({ icg, error }) => [icg, error?.code])).toEqual([
          [undefined, UNAUTHORIZED],
        ]);
      }
    }
    expect(unprivileged.aside).toEqual([]);
  });

  test.each([
    ['guest', '****'],
    ['clerk', 'ada@example.org'],
    [SUPERUSER.username, 'ada@example.org'],
  ])('masked column: %s → %s, in the preliminary too', async (role, email) => {
    await using client = await login('frankfurt', role);
    const [plain] = await client.query(query(), { consistency: 'quorum' });
    const answers = await client.query(query(), { consistency: 'quorum', icg: 2 });
    expect(codes(answers)).toEqual([1, 4]);
    expect(answers.map(({ body }) => body)).toEqual([plain?.body, plain?.body]);
    expect(read(plain)).toEqual([[email]]);
  });
});

describe("the server's own rules", () => {
  test.each([
    ['within the limits', 10_000, [1, 2], 0],
    ['warned about', 30_000, [undefined], 1],
  ])('result %s → %d bytes as plain, warned about once', async (_, size, expected, warnings) => {
    await write('kv', `size-${size}`, 'x'.repeat(size), 'all');
    const answers = await select('kv', `size-${size}`, { icg: 1 });
    expect(codes(answers)).toEqual(expected);
    expect(answers.at(-1)?.warnings).toHaveLength(warnings);
  });

  test('result refused for its size → the error, nothing before it', async () => {
    for (const c of [0, 1, 2]) {
      const values = [Buffer.of(0, 0, 0, c), text('x'.repeat(30_000))];
      await frankfurt.run(`INSERT INTO ${table('pages')} (k, c, v) VALUES ('a', ?, ?)`, {
        values,
        consistency: 'all',
      });
    }
    const query = `SELECT v FROM ${table('pages')} WHERE k = 'a'`;
    const answers = await frankfurt.query(query, { consistency: 'quorum', icg: 1 });
    expect(answers.map(({ icg, error }) => [icg, error?.code])).toEqual([
      [undefined, READ_FAILURE],
    ]);
  });

  test('audit → each read once', async () => {
    const log = join(cluster()?.state.folder ?? '', 'frankfurt.log');
    const marks = ['plain', 'asking'];
    for (const [index, mark] of marks.entries()) {
      const query = `SELECT v FROM audited.kv WHERE k = '${mark}-of-the-audit'`;
      await frankfurt.query(query, { consistency: 'quorum', ...(index === 1 && { icg: 1 }) });
    }
    const times = (mark: string): number =>
      readFileSync(log, 'utf8').split(`${mark}-of-the-audit`).length - 1;
    await expect.poll(() => marks.map(times)).toEqual([1, 1]);
  });
});

describe('replicas that are slow or gone', () => {
  test('no quorum in time → the preliminary, then the time-out of plain Cassandra; gone → unavailable at once', async () => {
    const before = await counters(frankfurt);
    cluster()?.pause('ireland');
    cluster()?.pause('virginia');
    try {
      const [[plain], answers] = await Promise.all([
        select('kv', 'a', {}),
        select('kv', 'a', { icg: 1 }),
      ]);
      expect(plain?.error?.code).toBe(READ_TIMEOUT);
      expect(answers.map(({ icg, error }) => [icg, error?.code])).toEqual([
        [1, undefined],
        [undefined, READ_TIMEOUT],
      ]);
      expect(answers[1]?.body).toEqual(plain?.body);
      expect(read(answers[0])).toEqual([['apple']]);
      expect((await counters(frankfurt))['Failed']).toBe((before['Failed'] ?? 0) + 1);
      const errorOfPlain = async (): Promise<unknown> =>
        (await select('kv', 'a', {}))[0]?.error?.code;
      await expect.poll(errorOfPlain, { timeout: 120_000 }).toBe(UNAVAILABLE);
      const unavailable = await select('kv', 'a', { icg: 1 });
      expect(unavailable.map(({ icg, error }) => [icg, error?.code])).toEqual([
        [undefined, UNAVAILABLE],
      ]);
    } finally {
      cluster()?.resume('ireland');
      cluster()?.resume('virginia');
    }
    await cluster()?.untilReady();
  });

  test('a replica killed, speculative_retry → preliminaries and finals go on without an error', async () => {
    await cluster()?.kill('ireland');
    for (let n = 0; n < 20; n += 1) {
      const answers = await select('eager', 'a', { icg: 1 });
      expect(codes(answers)).toEqual([1, 2]);
      expect(read(answers[0])).toEqual([['apple']]);
    }
    await cluster()?.restart('ireland');
  });
});

test('a storm: writes at ONE, several replicas asked for data, one freezes → allowed sequences only', async () => {
  const ends = new AbortController();
  const done = (): boolean => ends.signal.aborted;
  const writer = async (client: RawCql): Promise<void> => {
    for (let n = 0; !done(); n += 1) await upsert(client, `${n % 5}`, `${n}`);
  };
  const upsert = (client: RawCql, key: string, value: string): Promise<Answer[]> => {
    const query = `INSERT INTO ${table('raced')} (k, v) VALUES ('${key}', '${value}')`;
    return client.query(query, { consistency: 'one' });
  };
  const seen = new Map<string, number>();
  const reader = async (client: RawCql, icg: number): Promise<void> => {
    for (let n = 0; !done(); n += 1) {
      const query = `SELECT v FROM ${table('raced')} WHERE k = '${n % 5}'`;
      const answers = await client.query(query, { consistency: 'quorum', icg });
      const sequence = answers
        .map((answer) => (answer.error === undefined ? `${answer.icg}` : 'error'))
        .join(' ');
      seen.set(sequence, (seen.get(sequence) ?? 0) + 1);
      const [early, final] = answers;
      if (final?.icg === 3) expect(read(final)).not.toEqual(read(early));
      if (final?.icg === 4) expect(read(final)).toEqual(read(early));
    }
  };
  const clients = await Promise.all([login('frankfurt'), login('frankfurt'), login('ireland')]);
  const [ofFrk, alsoOfFrk, ofIrl] = clients as [RawCql, RawCql, RawCql];
  for (const key of ['0', '1', '2', '3', '4']) await upsert(ofFrk, key, 'first');
  const readers = [1, 1, 2, 2].flatMap((icg) => [reader(ofFrk, icg), reader(alsoOfFrk, icg)]);
  const work = [...readers, writer(ofFrk), writer(ofIrl)];
  try {
    await atLeast(500);
    cluster()?.pause('ireland');
    await atLeast(1000);
  } finally {
    cluster()?.resume('ireland');
  }
  await atLeast(1500);
  ends.abort();
  await Promise.all(work);
  const allowed = ['1 2', '1 3', '1 4', '1 error', 'error', 'undefined'];
  expect([...seen.keys()].filter((sequence) => !allowed.includes(sequence))).toEqual([]);
  for (const sequence of ['1 2', '1 3', '1 4']) expect(seen.get(sequence)).toBeGreaterThan(0);
  expect(clients.flatMap(({ aside }) => aside)).toEqual([]);
  await Promise.all(clients.map((client) => client[Symbol.asyncDispose]()));

  async function atLeast(reads: number): Promise<void> {
    const count = (): number => [...seen.values()].reduce((sum, item) => sum + item, 0);
    await expect.poll(count, { timeout: 120_000 }).toBeGreaterThan(reads);
  }
});

test('after all that → no preliminary broke', async () => {
  expect((await counters(frankfurt))['Broken']).toBe(0);
});
