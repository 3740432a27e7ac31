/** Errors of code, which are no failures of a server. */

/**
 * Returns whether JavaScript has thrown the error, for example `JSON.parse`. A retry fails in the
 * same way. `fetch` gives the error of the network as the cause of a `TypeError`.
 */
export function isCodeError(error: unknown): boolean {
  const isOfLanguage =
    error instanceof SyntaxError ||
    error instanceof TypeError ||
    error instanceof RangeError ||
    error instanceof ReferenceError ||
    error instanceof URIError;
  return isOfLanguage && error.cause === undefined && !('code' in error);
}
