/**
 * The names of what is in the rows that a server sends. Apart, since only
 * servers say them.
 */
import { KIND_AT } from './define-message.ts';
import { serverMessageKinds, type ServerMessage } from './server-messages.ts';

const FIELDS: ReadonlyMap<string, readonly string[]> = new Map(
  serverMessageKinds.map(({ kind, fields }) => [kind, fields]),
);

export function getFields(row: ServerMessage): readonly string[] {
  return FIELDS.get(row[KIND_AT]) ?? [];
}
