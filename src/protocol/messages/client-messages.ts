/**
 * The messages that a server accepts from a client. They are apart from `server-messages.ts`, so
 * that a page does not load these schemas.
 */
import { ack, cancel, ping, pong, renew } from './short-messages.ts';
import type { MessageKind, MessageOf } from './define-message.ts';
import { hello } from './hello.ts';
import { submit } from './submit.ts';

const KINDS = [hello, renew, submit, cancel, ack, ping, pong] as const;

export type ClientMessage = MessageOf<(typeof KINDS)[number]>;

export const clientMessageKinds: readonly MessageKind<ClientMessage>[] = KINDS;
