/** Idempotency keys of clients that a server executes operations for. */

/**
 * Begins a key that came over the network. A client in this process cannot use such a key, because
 * its keys are printable. It is not U+0000, which a store may refuse in a text, as PostgreSQL does.
 */
export const OWNED_PREFIX = '\u0001';

/**
 * Returns the key for the store. Its owner is a part of it, so that no user gets the result of
 * another one.
 *
 * @param owner the encoded name of the user, without `/`
 */
export function toOwnedKey(owner: string, key: string): string {
  return `${OWNED_PREFIX}${owner}/${key}`;
}
