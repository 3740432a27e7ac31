/** What tests of Correctable Cassandra read from answers. */
import type { ClusterOptions } from '../../../engines/cassandra/cluster.ts';
import { waitUntil } from '../../../engines/process.ts';
import { beforeEach } from 'vitest';
import { isShort, withCassandra, type TestCluster } from './cassandra.ts';
import type { Answer, RawCql } from './raw-cql.ts';

export function text(value: string): Buffer {
  return Buffer.from(value);
}

/** The values of an answer's rows, as text. */
export function read(answer: Answer | undefined): (string | undefined)[][] {
  return (answer?.rows ?? []).map((row) => row.map((value) => value?.toString()));
}

/** The kind of each reply, as it is marked. */
export function codes(answers: readonly Answer[]): (number | undefined)[] {
  return answers.map(({ icg }) => icg);
}

/** The counters of the node that the client is connected to. */
export async function counters(client: RawCql): Promise<Record<string, number>> {
  const { rows } = await client.run('SELECT name, value FROM system_correctables.icg');
  return Object.fromEntries(
    rows.map(([name, value]) => [String(name), Number(value?.readBigInt64BE() ?? 0n)]),
  );
}

/** A cluster of the file's own; undefined in a short run, in which the tests are skipped. */
export function withOwnCassandra(options: Partial<ClusterOptions>): TestCluster | undefined {
  beforeEach((context) =>
    context.skip(isShort, 'it starts a cluster of its own: not with --short'),
  );
  return isShort ? undefined : withCassandra(options);
}

/**
 * A cluster to break: clients log in, writes at `nodeLocal` reach one replica and no other, nothing
 * is repaired behind our back, and a read waits for a quorum not much longer than a busy machine
 * needs.
 */
export const FAULTY: Partial<ClusterOptions> & { readonly nodes: 3 } = {
  nodes: 3,
  plugin: true,
  authentication: true,
  javaFlags: ['-Dcassandra.enable_nodelocal_queries=true'],
  settings: [
    'hinted_handoff_enabled: false',
    'read_request_timeout: 3000ms',
    ...['roles', 'permissions', 'credentials'].map((cache) => `${cache}_validity: 3600s`),
    'dynamic_data_masking_enabled: true',
    'read_thresholds_enabled: true',
    'coordinator_read_size_warn_threshold: 20KiB',
    'coordinator_read_size_fail_threshold: 40KiB',
    'audit_logging_options: { enabled: true, logger: [{ class_name: FileAuditLogger }], included_keyspaces: audited }',
  ],
};

const AGREED_MS = 60_000;

/** Changes the schema, and waits until all nodes have it: until then some refuse to write. */
export async function define(client: RawCql, ...statements: readonly string[]): Promise<void> {
  for (const cql of statements) await client.run(cql);
  const agreed = async (): Promise<boolean> => {
    const local = await client.run('SELECT schema_version FROM system.local');
    const peers = await client.run('SELECT schema_version FROM system.peers_v2');
    return (
      new Set([...local.rows, ...peers.rows].map(([version]) => version?.toString('hex'))).size ===
      1
    );
  };
  if (!(await waitUntil(agreed, AGREED_MS)))
    throw new Error('the nodes do not agree on the schema');
}
