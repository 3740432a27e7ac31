/**
 * The kinds of messages that say one thing or two: about the connection, and
 * how far the client is.
 */
import { defineMessage } from './define-message.ts';
import {
  connectionNumber,
  count,
  nullish,
  operationNumber,
  authToken,
} from './field-schemas.ts';

/**
 * The kind `ack`, from the client: it is done with all operations up to a
 * number. Later ones get `REPLY_EXPIRED`.
 */
export const ack = /* @__PURE__ */ defineMessage('ack', [['upTo', count]]);

/**
 * The kind `cancel`, from the client: it wants no more views. A begun update
 * runs on, and fails with `UNKNOWN`.
 */
export const cancel = /* @__PURE__ */ defineMessage('cancel', [
  ['id', operationNumber],
]);

/**
 * The kind `renew`, from the client: a fresh token for a connection that is
 * open. The principal must stay the same.
 */
export const renew = /* @__PURE__ */ defineMessage('renew', [
  ['id', connectionNumber],
  ['token', authToken],
]);

/**
 * The kind `renewed`, from the server: it took the fresh token; how long that
 * lasts, if it ends at all.
 */
export const renewed = /* @__PURE__ */ defineMessage('renewed', [
  ['id', connectionNumber],
  ['expiresInMs', nullish(count)],
]);

/**
 * The kind `goaway`, from the server: submit no more here; the connection
 * closes within `drainMs`.
 */
export const goaway = /* @__PURE__ */ defineMessage('goaway', [
  ['id', connectionNumber],
  ['drainMs', count],
]);

/**
 * The kind `ping`, from either end. Answered by `pong`. A browser cannot send
 * the ping of websockets.
 */
export const ping = /* @__PURE__ */ defineMessage('ping', [['n', count]]);

/** The kind `pong`, from either end, with the number of the `ping`. */
export const pong = /* @__PURE__ */ defineMessage('pong', [['n', count]]);

/** Frames from this size on are announced, in bytes. */
export const MIN_ANNOUNCED_BYTES = 1 << 16;

/**
 * The kind `incoming`, from the server: how large the next frame is. Until it
 * has come nothing else can.
 */
export const incoming = /* @__PURE__ */ defineMessage('incoming', [
  ['bytes', count],
]);
