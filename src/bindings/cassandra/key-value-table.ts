/** The table of `get`, `put` and `getMany`. */

/**
 * The statement that makes the table of `get`, `put` and `getMany`: run it once, when you deploy. `read_repair` is what
 * keeps strong reads from going back in time.
 *
 * @example
 * console.log(keyValueTable({ keyspace: 'shop' })); // CREATE TABLE IF NOT EXISTS shop.correctables_values …
 */
export function keyValueTable({
  keyspace,
  table = 'correctables_values',
}: {
  readonly keyspace: string;
  readonly table?: string;
}): string {
  return `CREATE TABLE IF NOT EXISTS ${keyspace}.${table} (key text PRIMARY KEY, value text) WITH read_repair = 'BLOCKING'`;
}
