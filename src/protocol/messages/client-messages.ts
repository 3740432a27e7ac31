/** What a server accepts from a client. Apart from `server-kinds.ts`, so that a page does not carry these schemas. */
import { ack, cancel, ping, pong, renew } from './short-messages.ts';
import type { MessageKind, MessageOf } from './define-message.ts';
import { hello } from './hello.ts';
import { submit } from './submit.ts';

const KINDS = [hello, renew, submit, cancel, ack, ping, pong] as const;

/** A row that a client sends. */
export type ClientMessage = MessageOf<(typeof KINDS)[number]>;

/** The kinds of rows that a client sends. */
export const clientMessageKinds: readonly MessageKind<ClientMessage>[] = KINDS;
