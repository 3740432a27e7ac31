import { Pool, type PoolConfig } from 'pg';
import { migrations, postgres } from '../../../src/bindings/postgres/index.ts';
import { createClient } from '../../../src/index.ts';
import { get, put } from '../../../src/operations/index.ts';
import type { StartWalk } from './walk.ts';

/** A read of real servers: a preliminary view of a replica, the final one of the primary. */
export const startWalk: StartWalk = async () => {
  const servers = JSON.parse(process.env['TRACE_POSTGRES'] ?? '{}') as {
    readonly primary: PoolConfig;
    readonly replica: PoolConfig;
  };
  const primary = new Pool({ ...servers.primary, pipeline: true });
  await primary.query(migrations());
  const client = createClient(postgres({ primary, replicas: [servers.replica] }));
  await client.invoke(put('greeting', 'hello'));
  return {
    operation: 'get',
    run: async () => client.invoke(get('greeting')),
    close: async () => {
      await client.close();
      await primary.end();
    },
  };
};
