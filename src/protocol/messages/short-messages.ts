/**
 * Messages with at most two elements of content. They are about the connection, or about the
 * client's progress.
 */
import { defineMessage } from './define-message.ts';
import { connectionNumber, count, nullish, operationNumber, authToken } from './field-schemas.ts';

/**
 * The kind `ack`, from the client: it has finished all operations up to a number. If it resends one
 * of these, it gets `REPLY_EXPIRED`.
 */
export const ack = /* @__PURE__ */ defineMessage('ack', [['upTo', count]]);

/**
 * The kind `cancel`, from the client: it wants no more views. An update that has begun runs on, and
 * fails with `UNKNOWN`.
 */
export const cancel = /* @__PURE__ */ defineMessage('cancel', [['id', operationNumber]]);

/**
 * The kind `renew`, from the client: a fresh token for an open connection. The principal must stay
 * the same.
 */
export const renew = /* @__PURE__ */ defineMessage('renew', [
  ['id', connectionNumber],
  ['token', authToken],
]);

/**
 * The kind `renewed`, from the server: it accepted the fresh token. The content is how long the
 * token lasts, if it ends.
 */
export const renewed = /* @__PURE__ */ defineMessage('renewed', [
  ['id', connectionNumber],
  ['expiresInMs', nullish(count)],
]);

/**
 * The kind `goaway`, from the server: submit no more operations here. The connection closes within
 * `drainMs`.
 */
export const goaway = /* @__PURE__ */ defineMessage('goaway', [
  ['id', connectionNumber],
  ['drainMs', count],
]);

/**
 * The kind `ping`, from either end. The reply is `pong`. A browser cannot send the ping of
 * websockets.
 */
export const ping = /* @__PURE__ */ defineMessage('ping', [['n', count]]);

/** The kind `pong`, from either end, with the number of the `ping`. */
export const pong = /* @__PURE__ */ defineMessage('pong', [['n', count]]);

/** The server announces frames of this size in bytes, or larger ones. */
export const MIN_ANNOUNCED_BYTES = 1 << 16;

/**
 * The kind `incoming`, from the server: the size of the next frame. Until that frame has arrived,
 * no other can.
 */
export const incoming = /* @__PURE__ */ defineMessage('incoming', [['bytes', count]]);
