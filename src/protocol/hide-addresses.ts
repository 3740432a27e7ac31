/** Takes addresses of servers out of messages that clients get. */

/** `host:port`, with a scheme and credentials if they are there. */
const HOST_AND_PORT =
  /(?:[a-z][a-z\d+.-]*:\/\/)?(?:[^\s/@]+@)?(?:\[[\da-f:.%]+\]|localhost|[\w-]+(?:\.[\w-]+)+|::1):\d{1,5}\b/gi;
const IP_ADDRESS = /\b\d{1,3}(?:\.\d{1,3}){3}\b/g;
/** A name that has no address: `getaddrinfo ENOTFOUND db.internal`. */
const UNKNOWN_HOST = /\b(ENOTFOUND|EAI_AGAIN) [\w.-]+/g;

const REPLACEMENT = '(address)';

/**
 * Drivers write the address of a server into their errors. The caller of an
 * operation may be a stranger, so it must not get it. The log of the server has
 * it.
 */
export function hideAddresses(message: string): string {
  return message
    .replaceAll(HOST_AND_PORT, REPLACEMENT)
    .replaceAll(IP_ADDRESS, REPLACEMENT)
    .replaceAll(UNKNOWN_HOST, `$1 ${REPLACEMENT}`);
}
