/**
 * The Cassandra binding keeps the contract of every binding on a real cluster, whichever way it
 * goes there.
 */
import cassandra from 'cassandra-driver';
import { beforeAll } from 'vitest';
import { z } from 'zod';
import {
  implementStatements,
  getKeyValueTableCql,
  oneRow,
} from '../../src/bindings/cassandra/index.ts';
import { get, getMany, put } from '../../src/operations/index.ts';
import { defineContract, keyValueOperations } from '../../src/contract/index.ts';
import type { OpenedBinding } from '../../src/testing/index.ts';
import { withCassandra } from './support/cassandra.ts';
import { WAYS, type Way } from './support/cassandra-read-strategies.ts';
import { runConformance } from '../support/run-conformance.ts';

const { all } = cassandra.types.consistencies;
const cluster = withCassandra();

const contract = defineContract('contract', {
  ...keyValueOperations,
  broken: { access: 'read', args: z.object({ key: z.string() }), result: z.unknown() },
});
const statements = implementStatements(contract, {
  broken: { cql: 'SELECT value FROM no_such_table WHERE key = :key', result: oneRow((row) => row) },
});

beforeAll(() =>
  cluster.client('frankfurt').execute(getKeyValueTableCql({ keyspace: cluster.keyspace })),
);

async function open(way: Way): Promise<OpenedBinding> {
  // A store without data: no replica has any of the keys.
  const cql = `DELETE FROM ${cluster.keyspace}.correctables_values WHERE key IN ('k', 'none')`;
  await cluster.client('frankfurt').execute(cql, [], { consistency: all });
  const { binding, close } = await way.open(cluster, { statements, contract });
  return { binding, release: close };
}

for (const way of WAYS) {
  const subject = {
    createBinding: () => open(way),
    failingOperation: contract.broken({ key: 'k' }),
  };
  runConformance({
    ...subject,
    name: `cassandra, ${way.name}`,
    write: put('k', { n: 1 }),
    read: get('k'),
    expected: { n: 1 },
  });
  runConformance({
    ...subject,
    name: `cassandra, ${way.name}, several keys`,
    write: put('k', { n: 1 }),
    read: getMany(['none', 'k']),
    expected: [undefined, { n: 1 }],
  });
}
