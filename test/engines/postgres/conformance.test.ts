/** The PostgreSQL binding keeps the contract of every binding, on real servers. */
import { beforeAll } from 'vitest';
import { z } from 'zod';
import { defineStatements, oneRow } from '../../../src/bindings/postgres/index.ts';
import { get, getMany, put } from '../../../src/operations/index.ts';
import type { OpenedBinding } from '../../../src/testing/index.ts';
import { runConformance } from '../../support/run-conformance.ts';
import { openBinding, prepareTables, untilAllCaughtUp } from '../support/postgres-client.ts';
import { withPostgres } from '../support/postgres.ts';

const it = withPostgres();

const statements = defineStatements({
  broken: {
    access: 'read',
    sql: 'select value from no_such_table where key = :key',
    args: z.object({ key: z.string() }),
    result: oneRow((row) => row),
  },
  slow: {
    access: 'read',
    sql: 'select v.value from pg_sleep(0.5), public.correctables_values v where v.key = :key',
    args: z.object({ key: z.string() }),
    result: oneRow((row) => row['value']),
  },
});

beforeAll(() => prepareTables(it.servers));

async function open(options: Parameters<typeof openBinding>[1] = {}): Promise<OpenedBinding> {
  await it.servers.query('primary', 'delete from correctables_values');
  await untilAllCaughtUp(it.servers);
  const openAnother = () => openBinding(it.servers, { statements, ...options });
  return { binding: openAnother(), secondBinding: async () => openAnother() };
}

/** Nothing listens there. */
const NOWHERE = { host: '127.0.0.1', port: 9 };

const subject = { createBinding: () => open(), failingOperation: statements.broken({ key: 'k' }) };
runConformance({
  ...subject,
  name: 'postgres',
  write: put('k', { n: 1 }),
  read: get('k'),
  expected: { n: 1 },
  weakLevelFails: { 'are down': () => open({ replicas: [NOWHERE] }) },
  pausedWeakLevel: async () => {
    const opened = await open();
    const names = it.servers.replicas.map(({ name }) => name);
    for (const name of names) await it.servers.pauseReplay(name);
    const resume = async (): Promise<void> => {
      for (const name of names) await it.servers.resumeReplay(name);
    };
    return { ...opened, resume, release: resume };
  },
  strongLevelFails: () => open({ primary: NOWHERE }),
});
runConformance({
  ...subject,
  name: 'postgres, several keys',
  write: put('k', { n: 1 }),
  read: getMany(['none', 'k']),
  expected: [undefined, { n: 1 }],
});
