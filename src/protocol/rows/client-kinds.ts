/** What a server accepts from a client. Apart from `server-kinds.ts`, so that a page does not carry these schemas. */
import { ack, cancel, ping, pong, renew } from './short-rows.ts';
import type { MessageKind, RowOf } from './define-row.ts';
import { hello } from './hello.ts';
import { submit } from './submit.ts';

const KINDS = [hello, renew, submit, cancel, ack, ping, pong] as const;

/** A row that a client sends. */
export type ClientRow = RowOf<(typeof KINDS)[number]>;

/** The kinds of rows that a client sends. */
export const clientKinds: readonly MessageKind<ClientRow>[] = KINDS;
