/** What tests of Correctable Cassandra read from answers. */
import { waitUntil } from '../../../engines/process.ts';
import type { Answer, RawCql } from './raw-cql.ts';

export function text(value: string): Buffer {
  return Buffer.from(value);
}

/** The values of an answer's rows, as text. */
export function read(answer: Answer | undefined): (string | undefined)[][] {
  return (answer?.rows ?? []).map((row) => row.map((value) => value?.toString()));
}

/** What each answer says it is. */
export function codes(answers: readonly Answer[]): (number | undefined)[] {
  return answers.map(({ icg }) => icg);
}

/** The counters of the node that the client is connected to. */
export async function counters(client: RawCql): Promise<Record<string, number>> {
  const { rows } = await client.run('SELECT name, value FROM system_correctables.icg');
  return Object.fromEntries(rows.map(([name, value]) => [String(name), Number(value?.readBigInt64BE() ?? 0n)]));
}

const AGREED_MS = 60_000;

/** Changes the schema, and waits until all nodes have it: until then some refuse to write. */
export async function define(client: RawCql, ...statements: readonly string[]): Promise<void> {
  for (const cql of statements) await client.run(cql);
  const agreed = async (): Promise<boolean> => {
    const local = await client.run('SELECT schema_version FROM system.local');
    const peers = await client.run('SELECT schema_version FROM system.peers_v2');
    return new Set([...local.rows, ...peers.rows].map(([version]) => version?.toString('hex'))).size === 1;
  };
  if (!(await waitUntil(agreed, AGREED_MS))) throw new Error('the nodes do not agree on the schema');
}
