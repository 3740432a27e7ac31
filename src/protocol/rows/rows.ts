/** All rows of the protocol, by direction. */
import type { AckRow } from './ack.ts';
import type { CancelRow } from './cancel.ts';
import type { ConfirmRow } from './confirm.ts';
import type { FailRow } from './fail.ts';
import type { GoawayRow } from './goaway.ts';
import type { HelloRow } from './hello.ts';
import type { IncomingRow } from './incoming.ts';
import type { PingRow } from './ping.ts';
import type { PongRow } from './pong.ts';
import type { RenewRow } from './renew.ts';
import type { RenewedRow } from './renewed.ts';
import type { SubmitRow } from './submit.ts';
import type { ViewRow } from './view.ts';
import type { WelcomeRow } from './welcome.ts';

/** A row that a client sends. */
export type ClientRow = HelloRow | RenewRow | SubmitRow | CancelRow | AckRow | PingRow | PongRow;
/** A row that a server sends. */
export type ServerRow =
  | WelcomeRow
  | RenewedRow
  | ViewRow
  | ConfirmRow
  | FailRow
  | GoawayRow
  | IncomingRow
  | PingRow
  | PongRow;
