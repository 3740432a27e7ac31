/**
 * Codes with which either end closes the websocket, and what they mean for the
 * client.
 */

/**
 * Why a connection was closed: 1001, 1009, 1011 and 1013 are the websocket
 * standard's, 4000 and above are ours.
 */
export const CloseCode = {
  /** The client is done. */
  done: 1000,
  /** The server is shutting down: connect again. */
  goingAway: 1001,
  /** A frame is larger than the receiver allows. */
  tooBig: 1009,
  /** The server made a mistake: connect again. */
  internal: 1011,
  /** The server has no room for it now: connect again, later. */
  tryLater: 1013,
  /** Too many malformed rows or frames. */
  malformed: 4400,
  /** The token is missing, wrong or expired. */
  unauthenticated: 4401,
  /** The token has expired: connect again with a fresh one. */
  expired: 4402,
  /** The principal may not use this server. */
  forbidden: 4403,
  /**
   * The path of the address is no site. The reason names the sites that there
   * are.
   */
  noSite: 4404,
  /** Version, levels or contract differ between the two ends. */
  mismatch: 4406,
  /** No `hello` arrived in time. */
  helloTimeout: 4408,
  /** Another, newer connection carries the same client id. */
  replaced: 4409,
  /**
   * The client reads too slowly for what it asks: connect again, ask for less.
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

/**
 * Whether connecting again with the same client would only be refused again.
 */
export function isFatalClose(code: number): boolean {
  return FATAL_CODES.has(code);
}
