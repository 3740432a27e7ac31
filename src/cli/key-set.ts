/** The public keys that tokens are checked by: of a file, as it was at the start, or of an address, as they come and go. */
import { readFile } from 'node:fs/promises';
import { createLocalJWKSet, createRemoteJWKSet, customFetch, errors } from 'jose';
import type { CryptoKey, JSONWebKeySet, JWK, JWTVerifyGetKey } from 'jose';
import { usageError } from './options.ts';

/** How soon keys are asked for again because one is missing. Anybody can have that done, by a token that names none. */
const COOLDOWN_MS = 5_000;
/** All by which `jose` checks a signature with a key that everybody may have. */
const ALGORITHMS = ['RS', 'PS', 'ES']
  .flatMap((kind) => [`${kind}256`, `${kind}384`, `${kind}512`])
  .concat('EdDSA', 'Ed25519', 'ML-DSA-44', 'ML-DSA-65', 'ML-DSA-87');
/** With less, `jose` checks nothing. */
const MODULUS_BITS_MIN = 2048;

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
    const checks = await Promise.all(set.keys.map(checksSignatures));
    if (!checks.includes(true)) throw new Error(`none of its ${set.keys.length} keys can be used to check a signature`);
    // All of it is known at any time: what is missing there is missing.
    return { keyOf, reads: Infinity, reread: async () => {} };
  } catch (error) {
    const problem = error instanceof Error ? error.message : String(error);
    throw usageError('auth-keys', `names ${keys}, which is no file with a JWK set (${problem})`);
  }
}

/**
 * Whether signatures can be checked by it. What is for something else, or of a kind that is not known, is passed over
 * before it is read (RFC 7517, §5); one that is damaged, too short or private is not.
 *
 * @throws Error naming what is wrong with it
 */
async function checksSignatures(key: JWK, at: number): Promise<boolean> {
  const name = key.kid === undefined ? `key ${at}` : `key "${key.kid}"`;
  if (key.d !== undefined) throw new Error(`${name} is a private one: keep that where tokens are made`);
  const read = await readToCheck(key).catch((error: Error) => {
    const { message } = error.cause instanceof Error ? error.cause : error;
    throw new Error(`${name} cannot be read: ${message}`, { cause: error });
  });
  if (read === undefined) return false;
  const { modulusLength: bits = Infinity } = read.algorithm as { readonly modulusLength?: number };
  if (bits >= MODULUS_BITS_MIN) return true;
  throw new Error(`${name} has a modulus of ${bits} bits: make one of ${MODULUS_BITS_MIN} or more`);
}

/** The key as `jose` checks signatures by it; `undefined` where it never does. */
async function readToCheck(key: JWK): Promise<CryptoKey | undefined> {
  const keyOf = createLocalJWKSet({ keys: [key] });
  for (const alg of ALGORITHMS) {
    try {
      return await keyOf({ alg });
    } catch (error) {
      if (!isPassedOver(error)) throw error;
    }
  }
  return undefined;
}

/** Whether the key is not for the algorithm, or this Node does not have that. */
function isPassedOver(error: unknown): boolean {
  return error instanceof errors.JWKSNoMatchingKey || (error as Error).name === 'NotSupportedError';
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
