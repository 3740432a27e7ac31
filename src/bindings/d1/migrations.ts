/** The table of `get` and `put`, as SQL that a team can review. */

/** Fixed, so that the file of a migration stays right. */
export const VALUES_TABLE = 'correctables_values';

/** The advice if there is no such table. */
export const MIGRATIONS_HINT = 'Put the statement of migrations() into a file of migrations.';

/**
 * Returns the statement that creates the table of `get`, `getMany`, `put` and `remove`. Put it into
 * a file for `wrangler d1 migrations`. Your own statements do not need the table.
 *
 * @example
 * await env.DB.prepare(migrations()).run();
 */
export function migrations(): string {
  return `create table if not exists ${VALUES_TABLE} (
  key text primary key,
  value text not null
) without rowid`;
}
