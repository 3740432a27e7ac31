/** The table of `get`, `put` and `getMany`. */
import { checkRecord } from '../../correctable/validate.ts';
import { checkIdentifier } from './options.ts';

/** Options of `getKeyValueTableCql`: the keyspace and name of the table. */
export interface KeyValueTableOptions {
  readonly keyspace: string;
  readonly table?: string;
}

/**
 * Returns the statement that creates the table of `get`, `put` and `getMany`. Run it once, when you deploy. Its
 * `read_repair` keeps strong reads from going back in time. You can pass the options of `cassandra` too.
 *
 * @throws CorrectableError `INVALID_ARGUMENT` if CQL does not accept a name as it is
 * @example
 * console.log(getKeyValueTableCql({ keyspace: 'shop' })); // CREATE TABLE IF NOT EXISTS shop.correctables_values …
 */
export function getKeyValueTableCql(options: KeyValueTableOptions): string {
  checkRecord(options, { call: "getKeyValueTableCql({ keyspace: 'shop' })" });
  const { keyspace, table = 'correctables_values' } = options;
  const name = `${checkIdentifier('keyspace', keyspace)}.${checkIdentifier('table', table)}`;
  return `CREATE TABLE IF NOT EXISTS ${name} (key text PRIMARY KEY, value text) WITH read_repair = 'BLOCKING'`;
}
