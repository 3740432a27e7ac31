/** The public keys that tokens are checked by: of a file, as it was at the start, or of an address, as they come and go. */
import { readFile } from 'node:fs/promises';
import { createLocalJWKSet, createRemoteJWKSet, customFetch } from 'jose';
import type { JSONWebKeySet, JWTVerifyGetKey } from 'jose';
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
    const keyOf = createLocalJWKSet(JSON.parse(await readFile(keys, 'utf8')) as JSONWebKeySet);
    // All of it is known at any time: what is missing there is missing.
    return { keyOf, reads: Infinity, reread: async () => {} };
  } catch (error) {
    const problem = error instanceof Error ? error.message : String(error);
    throw usageError('auth-keys', `names ${keys}, which is no file with a JWK set (${problem})`);
  }
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
