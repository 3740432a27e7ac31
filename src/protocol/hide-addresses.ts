/** Takes addresses of servers out of messages that clients get. */

/**
 * What may be an address. Each is compared as a whole, since a search for addresses in a long text
 * would take a time that grows with its square.
 */
const WORD = /[^\s,;'"`()<>{}=]+/g;
/** Belongs to the sentence and not to the address before it. */
const SENTENCE_END = '.:!?';

const SCHEME = /^[a-z][a-z\d+.-]*:\/\//i;
/** A name without a dot needs a port of four digits: `12:30` is none. */
const HOST_AND_PORT = /^(?:(?:localhost|[\w-]+(?:\.[\w-]+)+):\d{1,5}|[a-z][\w-]*:\d{4,5})$/i;
const BRACKETED = /^\[[\da-f:.%]+\](?::\d{1,5})?$/i;
/** Node writes the port behind it, without brackets. */
const IPV6_ADDRESS = /^(?=.*(?:::|(?:[^:]*:){7}))[\da-f:.]*[\da-f](?:%\w+)?$/i;
const IPV4_ADDRESS = /\b\d{1,3}(?:\.\d{1,3}){3}\b(?::\d{1,5}\b)?/g;
/** A name that has no address: `getaddrinfo ENOTFOUND db.internal`. */
const UNKNOWN_HOST = /\b(ENOTFOUND|EAI_AGAIN|(?:getaddrinfo|query[A-Z]\w{0,9}) E[A-Z_]+) [\w.-]+/g;
/** `connect ENOENT /var/run/postgresql/.s.PGSQL.5432` */
const SOCKET_PATH = /\b(connect E[A-Z]+) \/\S+/g;

/** A name has at most 253 characters. */
const MAX_HOST_LENGTH = 260;

const REPLACEMENT = '(address)';

/**
 * Drivers write the address of a server into their errors. The caller of an operation may be a
 * stranger, so it must not get it. The log of the server has it.
 */
export function hideAddresses(message: string): string {
  return message
    .replaceAll(SOCKET_PATH, `$1 ${REPLACEMENT}`)
    .replaceAll(UNKNOWN_HOST, `$1 ${REPLACEMENT}`)
    .replaceAll(WORD, hideInWord)
    .replaceAll(IPV4_ADDRESS, REPLACEMENT);
}

function hideInWord(word: string): string {
  let end = word.length;
  while (end > 0 && SENTENCE_END.includes(word.charAt(end - 1))) end -= 1;
  const schemeLength = SCHEME.exec(word)?.[0].length ?? 0;
  // A password may contain anything.
  const hostAt = Math.max(schemeLength, word.lastIndexOf('@', end) + 1);
  const slash = word.indexOf('/', hostAt);
  const hostEnd = slash === -1 ? end : Math.min(slash, end);
  const host = word.slice(hostAt, hostEnd);
  const hasCredentials = schemeLength > 0 && hostAt > schemeLength;
  return hasCredentials || isAddress(host) ? REPLACEMENT + word.slice(hostEnd) : word;
}

function isAddress(host: string): boolean {
  if (host.length > MAX_HOST_LENGTH) return false;
  return HOST_AND_PORT.test(host) || BRACKETED.test(host) || IPV6_ADDRESS.test(host);
}
