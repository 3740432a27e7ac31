/** What the PostgreSQL binding takes as a server. */
import type { Pool, PoolConfig } from 'pg';
import { test } from 'vitest';
import { postgres } from '../../src/bindings/postgres/index.ts';

test('an address, options of a pool, a pool, or a function', () => {
  const given = undefined as unknown as { readonly pool: Pool; readonly config: PoolConfig };
  const open = (): void => {
    postgres({ primary: 'postgres://127.0.0.1/shop' });
    postgres({ primary: given.config, replicas: [given.pool] });
    postgres({ primary: { host: '127.0.0.1', ssl: true } });
    postgres({ primary: { run: async () => [] } });
    // @ts-expect-error a number is none of these
    postgres({ primary: 5432 });
  };
  void open;
});
