/** The names of what is in the rows that a server sends. Apart, since only servers say them. */
import { KIND } from './define-row.ts';
import { serverKinds, type ServerRow } from './server-kinds.ts';

const FIELDS: ReadonlyMap<string, readonly string[]> = new Map(serverKinds.map(({ kind, fields }) => [kind, fields]));

/** The names of the elements of a row that a server sends. */
export function fieldsOf(row: ServerRow): readonly string[] {
  return FIELDS.get(row[KIND]) ?? [];
}
