/**
 * Listing 7 on PostgreSQL: `weak` is a read replica, `strong` the primary. The shape only: `Pool`
 * is the part of node-postgres' pool that is used, so that any client, or a test, can stand in.
 */
import type { Binding, Access, Operation } from 'correctables';
import { withDetails, tiered } from 'correctables/bindings/tiered';

/** What is needed of `pg.Pool`. */
export interface Pool {
  query(
    text: string,
    values: readonly unknown[],
  ): Promise<{ readonly rows: readonly Record<string, unknown>[] }>;
  end(): Promise<void>;
}

/** A statement with its parameters. The statements stay in this file; callers name operations. */
interface Statement {
  /**
   * What the statement does, whatever a caller says of it: a read may be asked twice, and at the
   * replica.
   */
  readonly access: Access;
  readonly of: (args: never) => readonly [text: string, values: readonly unknown[]];
}

const STATEMENTS: Readonly<Record<string, Statement>> = {
  page: {
    access: 'read',
    of: ({ id }: { id: string }) => ['SELECT body, revision FROM pages WHERE id = $1', [id]],
  },
  edit: {
    access: 'write',
    of: ({ id, body }: { id: string; body: string }) => [
      'UPDATE pages SET body = $2, revision = revision + 1 WHERE id = $1 RETURNING body, revision',
      [id, body],
    ],
  },
};

export const page = (id: string): Operation<string | null> => ({
  name: 'page',
  args: { id },
  access: 'read',
  key: id,
});

export const edit = (id: string, body: string): Operation<string | null> => ({
  name: 'edit',
  args: { id, body },
  access: 'write',
  key: id,
});

/**
 * Wikis on a PostgreSQL primary and one of its replicas. Reads go to both at once, updates to the
 * primary.
 */
export function wiki(pools: {
  replica: Pool;
  primary: Pool;
}): Binding<readonly ['weak', 'strong']> {
  const ask = async (pool: Pool, { name, args }: Operation): Promise<unknown> => {
    const [text, values] = (STATEMENTS[name] as Statement).of(args as never);
    const [row] = (await pool.query(text, values)).rows;
    // The revision orders the answers: a replica that lags behind is seen to do so.
    return row === undefined ? null : withDetails(row['body'], { version: row['revision'] });
  };
  return tiered(
    ['weak', 'strong'],
    {
      weak: (operation) => ask(pools.replica, operation),
      strong: (operation) => ask(pools.primary, operation),
    },
    {
      supports: ({ name, access }) =>
        Object.hasOwn(STATEMENTS, name) && STATEMENTS[name]?.access === access,
      close: async () => {
        await Promise.all([pools.replica.end(), pools.primary.end()]);
      },
    },
  );
}
