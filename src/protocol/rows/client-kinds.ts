/** What a server accepts from a client. Apart from `server-kinds.ts`, so that a page does not carry these schemas. */
import { ack } from './ack.ts';
import { cancel } from './cancel.ts';
import { hello } from './hello.ts';
import type { MessageKind } from './define-row.ts';
import { ping } from './ping.ts';
import { pong } from './pong.ts';
import { renew } from './renew.ts';
import type { ClientRow } from './rows.ts';
import { submit } from './submit.ts';

/** The kinds of rows that a client sends. */
export const clientKinds: readonly MessageKind<ClientRow>[] = [hello, renew, submit, cancel, ack, ping, pong];
