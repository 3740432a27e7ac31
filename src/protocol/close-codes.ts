/** Codes with which either end closes the websocket, and their meaning for the client. */

/**
 * Why a connection was closed. The codes 1001, 1009, 1011 and 1013 are those of the websocket
 * standard. The package defines those from 4000.
 */
export const CloseCode = {
  /** The client has finished. */
  done: 1000,
  /** The server is shutting down. The client reconnects. */
  goingAway: 1001,
  /** A frame is larger than the receiver allows. */
  tooBig: 1009,
  /** The server failed. The client reconnects. */
  internal: 1011,
  /** The server has no capacity at present. The client reconnects later. */
  tryLater: 1013,
  /** The peer sent too many malformed messages or frames. */
  malformed: 4400,
  /** The token is missing, wrong or expired. */
  unauthenticated: 4401,
  /** The token has expired. The client reconnects with a fresh one. */
  expired: 4402,
  /** The principal may not use this server. */
  forbidden: 4403,
  /** No site has the path of the address. The reason lists the sites. */
  noSite: 4404,
  /** Version, levels or contract differ between the two ends. */
  mismatch: 4406,
  /** No `hello` arrived in time. */
  helloTimeout: 4408,
  /** Another, newer connection carries the same client id. */
  replaced: 4409,
  /**
   * The client reads too slowly for the views that it requests. It should reconnect and request
   * fewer.
   */
  slowReader: 4429,
} as const;

const FATAL_CODES: ReadonlySet<number> = new Set([
  CloseCode.malformed,
  CloseCode.unauthenticated,
  CloseCode.forbidden,
  CloseCode.noSite,
  CloseCode.mismatch,
  CloseCode.replaced,
]);

/** Returns whether a new connection of the same client would be refused again. */
export function isFatalClose(code: number): boolean {
  return FATAL_CODES.has(code);
}
