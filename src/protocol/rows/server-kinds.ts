/** What a client accepts from a server. */
import { confirm } from './confirm.ts';
import { fail } from './fail.ts';
import { goaway } from './goaway.ts';
import { incoming } from './incoming.ts';
import { KIND, type MessageKind } from './define-row.ts';
import { ping } from './ping.ts';
import { pong } from './pong.ts';
import { renewed } from './renewed.ts';
import type { ServerRow } from './rows.ts';
import { finalView, view } from './view.ts';
import { welcome } from './welcome.ts';

/** The kinds of rows that a server sends. */
export const serverKinds: readonly MessageKind<ServerRow>[] = [
  welcome,
  renewed,
  view,
  finalView,
  confirm,
  fail,
  goaway,
  incoming,
  ping,
  pong,
];

const FIELDS: ReadonlyMap<string, readonly string[]> = new Map(serverKinds.map(({ kind, fields }) => [kind, fields]));

/** The names of the elements of a row that a server sends. */
export function fieldsOf(row: ServerRow): readonly string[] {
  return FIELDS.get(row[KIND]) ?? [];
}
