/** The public keys that tokens are checked by: of a file, as it was at the start, or of an address, as they come and go. */
import { createPublicKey, type JsonWebKey } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { createLocalJWKSet, createRemoteJWKSet, customFetch } from 'jose';
import type { JSONWebKeySet, JWK, JWTVerifyGetKey } from 'jose';
import { usageError } from './options.ts';

/** How soon keys are asked for again because one is missing. Anybody can have that done, by a token that names none. */
const COOLDOWN_MS = 5_000;

/** A set of keys. */
export interface KeySet {
  readonly keyOf: JWTVerifyGetKey;
  /** How often it has been asked for: where that is more than before, a key that is missing was not there meanwhile. */
  readonly reads: number;
  /** Asks for it again, unless that has just happened, or it never changes. */
  reread(): Promise<void>;
}

/**
 * @param keys the path of a JWK set, or the https address of one
 * @throws CorrectableError `INVALID_ARGUMENT` where there are no such keys
 */
export async function keysAt(keys: string): Promise<KeySet> {
  if (keys.startsWith('https://')) return new RemoteKeys(addressOf(keys));
  if (keys.startsWith('http://'))
    throw usageError('auth-keys', 'takes an https address, or whoever is between says who may connect');
  try {
    const set = JSON.parse(await readFile(keys, 'utf8')) as JSONWebKeySet;
    const keyOf = createLocalJWKSet(set);
    const used = set.keys.filter(signs);
    if (used.length === 0) throw new Error(`none of its ${set.keys.length} keys can be used to check a signature`);
    // All of it is known at any time: what is missing there is missing.
    return { keyOf, reads: Infinity, reread: async () => {} };
  } catch (error) {
    const problem = error instanceof Error ? error.message : String(error);
    throw usageError('auth-keys', `names ${keys}, which is no file with a JWK set (${problem})`);
  }
}

/**
 * Whether signatures can be checked by it. A key of a kind that is not known is passed over (RFC 7517, §5); one that is
 * damaged, or private, is not.
 *
 * @throws Error naming what is wrong with it
 */
function signs({ d: secret, ...key }: JWK, at: number): boolean {
  if (!['RSA', 'EC', 'OKP'].includes(key.kty ?? '')) return false;
  const name = key.kid === undefined ? `key ${at}` : `key "${key.kid}"`;
  if (secret !== undefined) throw new Error(`${name} is a private one: keep that where tokens are made`);
  try {
    createPublicKey({ key: key as JsonWebKey, format: 'jwk' });
  } catch (error) {
    throw new Error(`${name} cannot be read: ${(error as Error).message}`, { cause: error });
  }
  return key.use !== 'enc';
}

class RemoteKeys implements KeySet {
  readonly keyOf: ReturnType<typeof createRemoteJWKSet>;
  reads = 0;

  constructor(address: URL) {
    this.keyOf = createRemoteJWKSet(address, {
      cooldownDuration: COOLDOWN_MS,
      [customFetch]: (url, options) => {
        this.reads += 1;
        return fetch(url, options);
      },
    });
  }

  async reread(): Promise<void> {
    if (!this.keyOf.coolingDown) await this.keyOf.reload();
  }
}

function addressOf(keys: string): URL {
  try {
    return new URL(keys);
  } catch {
    throw usageError('auth-keys', `takes the path or the https address of a JWK set, not "${keys}"`);
  }
}
