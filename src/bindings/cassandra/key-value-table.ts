/** The table of `get`, `put` and `getMany`. */
import { checkRecord } from '../../correctable/validate.ts';
import { checkIdentifier } from './options.ts';

/** Where the table is. */
export interface KeyValueTableOptions {
  readonly keyspace: string;
  readonly table?: string;
}

/**
 * The statement that makes the table of `get`, `put` and `getMany`: run it once, when you deploy. `read_repair` is what
 * keeps strong reads from going back in time. Takes the options of `cassandra` too.
 *
 * @throws CorrectableError `INVALID_ARGUMENT` for a name that CQL does not take as it is
 * @example
 * console.log(getKeyValueTableCql({ keyspace: 'shop' })); // CREATE TABLE IF NOT EXISTS shop.correctables_values …
 */
export function getKeyValueTableCql(options: KeyValueTableOptions): string {
  checkRecord(options, { call: "getKeyValueTableCql({ keyspace: 'shop' })" });
  const { keyspace, table = 'correctables_values' } = options;
  const name = `${checkIdentifier('keyspace', keyspace)}.${checkIdentifier('table', table)}`;
  return `CREATE TABLE IF NOT EXISTS ${name} (key text PRIMARY KEY, value text) WITH read_repair = 'BLOCKING'`;
}
