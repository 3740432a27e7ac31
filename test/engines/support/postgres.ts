/** A primary of PostgreSQL and its replicas for the tests of one file. */
import { afterAll, beforeAll, beforeEach } from 'vitest';
import { usePostgres, type UsedPostgres } from '../../../engines/postgres/engine.ts';
import type { PostgresKind, PostgresServers } from '../../../engines/postgres/servers.ts';
import { reasonToSkip } from './missing-tools.ts';

/** The first time, the server may be downloaded. */
const START_MS = 300_000;

/**
 * Starts the servers before the tests of the file and stops them after these. If PostgreSQL is
 * missing, the tests fail; with SKIP_ENGINES=1 they are skipped, with the reason.
 */
export function withPostgres(kind: Partial<PostgresKind> = {}): {
  readonly servers: PostgresServers;
} {
  let used: UsedPostgres | undefined;
  let missing: string | undefined;
  beforeAll(async () => {
    try {
      used = await usePostgres(kind, () => {});
    } catch (error) {
      missing = reasonToSkip(error);
    }
  }, START_MS);
  beforeEach((context) => context.skip(missing !== undefined, missing));
  afterAll(async () => await used?.stop());
  return {
    get servers() {
      if (used === undefined) throw new Error('the servers have not been started');
      return used.servers;
    },
  };
}
