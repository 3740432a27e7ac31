/** What is there at the end, by the stock driver, of all replicas: the last sights of a history. */
import cassandra from 'cassandra-driver';
import { clientOf } from '../../../engines/cassandra/ask.ts';
import type { Cluster } from '../../../engines/cassandra/cluster.ts';
import type { History } from '../history.ts';
import { INDEPENDENT, getInput, type Input } from './inputs.ts';
import { patiently } from './retry-until-works.ts';
import { PROFILES, TABLE, type Keyspaces, type Profile } from './tables.ts';

const { consistencies } = cassandra.types;
const FETCH = 500;

/** Reads every key that a call has named, and adds it to the history. */
export async function readFinalState(
  cluster: Cluster,
  keyspaces: Keyspaces,
  history: History,
): Promise<void> {
  const keys = keysIn(history);
  for (const profile of Object.values(PROFILES)) {
    const driver = clientOf(
      (cluster.address('frankfurt').split(':') as [string])[0],
      cluster.access,
    );
    try {
      await readProfile(driver, { profile, keyspace: keyspaces[profile.name], keys, history });
    } finally {
      await driver.shutdown();
    }
  }
}

interface Keys {
  readonly registers: ReadonlySet<string>;
  readonly lists: ReadonlySet<string>;
  readonly counters: ReadonlySet<string>;
}

interface Reading {
  readonly profile: Profile;
  readonly keyspace: string;
  readonly keys: Keys;
  readonly history: History;
}

async function readProfile(
  driver: cassandra.Client,
  { profile, keyspace, keys, history }: Reading,
): Promise<void> {
  const columns = 'key, value, items, CAST(d AS text) AS d, toJson(m) AS m';
  const beginMs = performance.now();
  const rows = await rowsOf(driver, `SELECT ${columns} FROM ${keyspace}.${TABLE}`);
  const byKey = new Map(rows.map((row) => [String(row['key']), row]));
  const mine = (all: ReadonlySet<string>): string[] =>
    [...all].filter((key) => key.startsWith(`${profile.name}/`));
  const record = (input: Input, values: unknown): void => {
    const views = [{ level: 'strong', value: values, atMs: performance.now() }];
    const description = {
      session: INDEPENDENT,
      kind: 'final',
      key: profile.name,
      input,
      levels: ['strong'],
    };
    history.record({
      ...description,
      beginMs,
      endMs: performance.now(),
      outcome: 'success',
      output: values,
      views,
    });
  };
  const [reads, lists, counters] = [mine(keys.registers), mine(keys.lists), mine(keys.counters)];
  record(
    { reads },
    reads.map((key) => registerOf(key, byKey.get(key))),
  );
  record(
    { lists },
    lists.map((key) => byKey.get(key)?.['items'] ?? []),
  );
  if (counters.length === 0) return;
  const counted = await rowsOf(driver, `SELECT key, n FROM ${keyspace}.counters`);
  const numbers = new Map(counted.map((row) => [String(row['key']), Number(row['n'])]));
  record(
    { counters },
    counters.map((key) => numbers.get(key) ?? 0),
  );
}

/** As the server writes these columns, without any client's idea of decimals and of times. */
function registerOf(key: string, row: cassandra.types.Row | undefined): string | null {
  if (key.includes('/typed')) {
    const { d, m } = (row ?? {}) as { readonly d?: string | null; readonly m?: string | null };
    if (d === undefined || d === null) return null;
    const entries = Object.entries(JSON.parse(m ?? '{}') as Record<string, string>);
    const plain = entries.map(([at, text]) => `${Date.parse(at)}:${text}`);
    return `${Number(d)}|${plain.sort().join(',')}`;
  }
  const value = row?.['value'] as string | null | undefined;
  return value === undefined || value === null ? null : (JSON.parse(value) as string);
}

async function rowsOf(driver: cassandra.Client, cql: string): Promise<cassandra.types.Row[]> {
  const rows: cassandra.types.Row[] = [];
  let pageState: string | undefined;
  do {
    const options = { prepare: true, consistency: consistencies.all, fetchSize: FETCH };
    const from = pageState === undefined ? {} : { pageState };
    const page = await patiently(() => driver.execute(cql, [], { ...options, ...from }));
    rows.push(...page.rows);
    pageState = page.pageState ?? undefined;
  } while (pageState !== undefined);
  return rows;
}

function keysIn({ calls }: History): Keys {
  const [registers, lists, counters] = [new Set<string>(), new Set<string>(), new Set<string>()];
  for (const call of calls) {
    const { writes = [], reads = [], appends = [], counts = [] } = getInput(call);
    for (const key of [...writes.map((write) => write.key), ...reads]) registers.add(key);
    for (const { key } of appends) lists.add(key);
    for (const key of counts) counters.add(key);
  }
  return { registers, lists, counters };
}
