/**
 * A guarded cluster of one node in one data centre: passwords, certificates, permissions, and local
 * quorums.
 */
import { readFileSync } from 'node:fs';
import { beforeAll, beforeEach, expect, test } from 'vitest';
import {
  cassandra,
  getKeyValueTableCql,
  type CassandraOptions,
} from '../../src/bindings/cassandra/index.ts';
import { createClient } from '../../src/index.ts';
import { get, put } from '../../src/operations/index.ts';
import { isShort, withCassandra } from './support/cassandra.ts';
import { besideFrankfurt } from './support/cassandra-read-strategies.ts';

beforeEach((context) => context.skip(isShort, 'it starts a cluster of its own: not with --short'));

const it = isShort ? undefined : withCassandra({ authentication: true, tls: true });
const clerk = { username: 'clerk', password: 'paper' };

beforeAll(async () => {
  if (it === undefined) return;
  const client = it.client('frankfurt');
  await client.execute(getKeyValueTableCql({ keyspace: it.keyspace }));
  await client.execute(
    `CREATE ROLE ${clerk.username} WITH PASSWORD = '${clerk.password}' AND LOGIN = true`,
  );
  await client.execute(`GRANT SELECT ON KEYSPACE ${it.keyspace} TO ${clerk.username}`);
});

function guarded(options: Partial<CassandraOptions> = {}): CassandraOptions {
  if (it === undefined) throw new Error('there is no cluster');
  const { credentials, certificate = '' } = it.cluster.access;
  const known = {
    tls: { ca: [readFileSync(certificate)] },
    ...(credentials !== undefined && { credentials }),
  };
  return { ...besideFrankfurt(it), ...known, ...options };
}

test('access: the right password over TLS, a local quorum of the only data centre → strong', async () => {
  const local = {
    read: 'LOCAL_QUORUM',
    write: 'LOCAL_QUORUM',
    weak: 'LOCAL_ONE',
    singleDataCenter: true,
  } as const;
  const client = createClient(cassandra(guarded(local)));
  expect(client.strongest).toBe('strong');
  await client.invoke(put('k', 1));
  expect(await client.invoke(get('k'))).toBe(1);
  expect(await client.invokeWeak(get('k'))).toBe(1);
  await client.close();
});

test('access: a wrong password → UNAUTHENTICATED', async () => {
  const client = createClient(
    cassandra(guarded({ credentials: { ...clerk, password: 'scissors' } })),
  );
  await expect(client.invoke(get('k'))).rejects.toMatchObject({
    code: 'UNAUTHENTICATED',
    retryable: false,
  });
  await client.close();
});

test('access: a certificate of an unknown authority → UNAVAILABLE, nothing is sent', async () => {
  const client = createClient(cassandra(guarded({ tls: {} })));
  await expect(client.invoke(get('k'))).rejects.toMatchObject({ code: 'UNAVAILABLE' });
  await client.close();
});

test('access: may read, may not write → FORBIDDEN for the write', async () => {
  const client = createClient(cassandra(guarded({ credentials: clerk })));
  expect(await client.invoke(get('never written'))).toBeUndefined();
  await expect(client.invoke(put('k', 2))).rejects.toMatchObject({
    code: 'FORBIDDEN',
    retryable: false,
  });
  await client.close();
});
