/**
 * The names of the elements of messages that a server sends. They are apart, because only servers
 * use them.
 */
import { KIND_AT } from './define-message.ts';
import { serverMessageKinds, type ServerMessage } from './server-messages.ts';

const FIELDS: ReadonlyMap<string, readonly string[]> = new Map(
  serverMessageKinds.map(({ kind, fields }) => [kind, fields]),
);

export function getFields(message: ServerMessage): readonly string[] {
  return FIELDS.get(message[KIND_AT]) ?? [];
}
