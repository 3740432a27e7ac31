/**
 * Where the histories take place: keyspaces that are replicated, written and read in different
 * ways, each a `strong` one.
 */
import { randomBytes } from 'node:crypto';
import type cassandra from 'cassandra-driver';
import type { Cluster } from '../../../engines/cassandra/cluster.ts';
import type { Consistency } from '../../../src/bindings/cassandra/index.ts';
import type { Promised } from './checks/key-guarantees.ts';
import { patiently } from './retry-until-works.ts';

export const TABLE = 'things';

/** How a keyspace is used, by all its clients. */
export interface Profile {
  readonly name: 'quorum' | 'quick' | 'everyone' | 'thin';
  readonly read: Consistency;
  readonly write: Consistency;
  /** Whether each node has a replica; otherwise one node of Europe has the only one. */
  readonly isEverywhere: boolean;
}

/** What is nearly always used. */
const QUORUM: Profile = { name: 'quorum', read: 'QUORUM', write: 'QUORUM', isEverywhere: true };
/**
 * Writes that are answered within a millisecond: whose order only clocks can tell that show less.
 */
const QUICK: Profile = { name: 'quick', read: 'ALL', write: 'ONE', isEverywhere: true };
/** Writes that need every node: conditions that are decided, and then cannot be committed. */
const EVERYONE: Profile = { name: 'everyone', read: 'ONE', write: 'ALL', isEverywhere: true };
/** Statements of several keys of which one may be out of reach. */
const THIN: Profile = { name: 'thin', read: 'QUORUM', write: 'QUORUM', isEverywhere: false };

export const PROFILES = { quorum: QUORUM, quick: QUICK, everyone: EVERYONE, thin: THIN } as const;

/** A keyspace of this run for each profile. */
export type Keyspaces = Readonly<Record<Profile['name'], string>>;

export async function createTables(cluster: Cluster, driver: cassandra.Client): Promise<Keyspaces> {
  const prefix = `h_${randomBytes(4).toString('hex')}`;
  const keyspaces: Record<string, string> = {};
  const make = (description: string): Promise<unknown> =>
    patiently(() => driver.execute(`CREATE ${description}`));
  for (const { name, isEverywhere } of Object.values(PROFILES)) {
    const keyspace = `${prefix}_${name}`;
    const replication = isEverywhere
      ? cluster.replication
      : "{'class': 'NetworkTopologyStrategy', 'eu': 1}";
    await make(`KEYSPACE IF NOT EXISTS ${keyspace} WITH replication = ${replication}`);
    const columns =
      'key text PRIMARY KEY, value text, items list<text>, d decimal, m map<timestamp, text>';
    await make(
      `TABLE IF NOT EXISTS ${keyspace}.${TABLE} (${columns}) WITH read_repair = 'BLOCKING'`,
    );
    keyspaces[name] = keyspace;
  }
  await make(`TABLE IF NOT EXISTS ${keyspaces['thin']}.counters (key text PRIMARY KEY, n counter)`);
  await make(`TABLE IF NOT EXISTS ${keyspaces['quorum']}.shapes (key text PRIMARY KEY, w bigint)`);
  return keyspaces as Keyspaces;
}

/** What is promised of keys, which are named after their keyspace. */
export const promised: Promised = { isRepaired: asksSeveral, hasEarlyViews: asksSeveral };

function asksSeveral(key: string): boolean {
  return PROFILES[key.split('/')[0] as Profile['name']].read !== 'ONE';
}
