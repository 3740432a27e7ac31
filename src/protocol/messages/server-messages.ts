/** The messages that a client accepts from a server. */
import { confirm } from './confirm.ts';
import { fail } from './fail.ts';
import { goaway, incoming, ping, pong, renewed } from './short-messages.ts';
import type { MessageKind, MessageOf } from './define-message.ts';
import { finalView, view } from './view.ts';
import { welcome } from './welcome.ts';

const KINDS = [
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
] as const;

export type ServerMessage = MessageOf<(typeof KINDS)[number]>;

export const serverMessageKinds: readonly MessageKind<ServerMessage>[] = KINDS;
