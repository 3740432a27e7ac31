/** Signed tokens (JSON Web Tokens), checked by public keys of a file or an address. */
import {
  createLocalJWKSet,
  createRemoteJWKSet,
  customFetch,
  decodeProtectedHeader,
  errors,
  jwtVerify,
  type CryptoKey,
  type JSONWebKeySet,
  type JWK,
  type JWTPayload,
  type JWTVerifyGetKey,
  type JWTVerifyOptions,
} from 'jose';
import { CorrectableError, isCorrectableError } from '../../correctable/errors.ts';
import type { Authenticate, Principal } from '../../server/gateway/context/gateway-context.ts';
import { getFileVersion, readTextFile } from '../../server/node/cluster/text-file.ts';
import { createUsageError } from '../options.ts';
import { getErrorMessage } from '../../values/error-message.ts';

/**
 * Required issuer and audience of a token. Default: any issuer with one of the keys, and any
 * audience
 */
export interface TokenRequirements {
  readonly issuer: string | undefined;
  readonly audience: string | undefined;
}

/** The maximum difference between the clocks of this machine and of the issuer of tokens. */
const CLOCK_TOLERANCE_S = 5;
const MS_PER_S = 1000;

/**
 * Creates a verifier of tokens that one of the keys has signed, with a principal (`sub`) and an
 * expiry time (`exp`). A token with an unknown key is rejected only if the keys were loaded after
 * it arrived: until then its key may be new.
 *
 * @param keys the path of a JWK set, or the https address of one
 * @throws CorrectableError `INVALID_ARGUMENT` if there are no such keys
 */
export async function createTokenVerifier(
  keys: string,
  { issuer, audience }: TokenRequirements,
): Promise<Authenticate> {
  const set = await loadKeys(keys);
  const requirements: JWTVerifyOptions = {
    ...(issuer === undefined ? {} : { issuer }),
    ...(audience === undefined ? {} : { audience }),
    requiredClaims: ['sub', 'exp'],
    clockTolerance: CLOCK_TOLERANCE_S,
  };
  return async (token = '') => {
    try {
      return toPrincipal(await verifyToken(token, set, requirements));
    } catch (error) {
      if (isTokenRejection(error) || isCorrectableError(error)) throw error;
      throw new CorrectableError('UNAVAILABLE', `The keys at ${keys} cannot be read.`, {
        cause: error,
      });
    }
  };
}

async function verifyToken(
  token: string,
  set: KeySet,
  requirements: JWTVerifyOptions,
): Promise<JWTPayload> {
  const readsBefore = set.loadCount;
  try {
    return await verifySignature(token, set, requirements);
  } catch (error) {
    if (!mayHaveUnknownKey(error, token) || set.loadCount === Infinity) throw error;
    await set.reload();
    if (set.loadCount === readsBefore) {
      const message =
        'The token is of a key that was not known when the keys were read, a moment ago; retry.';
      throw new CorrectableError('UNAVAILABLE', message, { cause: error });
    }
    return verifySignature(token, set, requirements);
  }
}

/**
 * Returns the claims of a token if one of the keys has signed it. If several keys match the token,
 * because they have no name or share one, all of them are tried.
 */
async function verifySignature(
  token: string,
  { getKey }: KeySet,
  requirements: JWTVerifyOptions,
): Promise<JWTPayload> {
  try {
    return (await jwtVerify(token, getKey, requirements)).payload;
  } catch (error) {
    if (!(error instanceof errors.JWKSMultipleMatchingKeys)) throw error;
    for await (const key of error) {
      try {
        return (await jwtVerify(token, key, requirements)).payload;
      } catch (reason) {
        if (!(reason instanceof errors.JWSSignatureVerificationFailed)) throw reason;
      }
    }
    throw new errors.JWSSignatureVerificationFailed();
  }
}

/**
 * Returns whether a key that is not loaded yet may have signed the token: the key that the token
 * names is missing, or the token names no key and none of the loaded keys fits.
 */
function mayHaveUnknownKey(error: unknown, token: string): boolean {
  if (error instanceof errors.JWKSNoMatchingKey) return true;
  return (
    error instanceof errors.JWSSignatureVerificationFailed &&
    decodeProtectedHeader(token).kid === undefined
  );
}

function toPrincipal({ sub, exp }: { readonly sub?: unknown; readonly exp?: number }): Principal {
  // Only a non-empty string: two objects could have the same string form.
  if (typeof sub !== 'string' || sub === '') {
    throw new errors.JWTClaimValidationFailed(
      '"sub" claim must be a text that is not empty',
      {},
      'sub',
      'invalid',
    );
  }
  return { id: sub, expiresAt: Number(exp) * MS_PER_S };
}

/**
 * Returns whether the error rejects the token itself. Returns false if the keys could not be
 * loaded, because the token was then not checked.
 */
function isTokenRejection(error: unknown): boolean {
  if (!(error instanceof errors.JOSEError)) return false;
  return !(
    error instanceof errors.JWKSTimeout ||
    error instanceof errors.JWKSInvalid ||
    error.code === 'ERR_JOSE_GENERIC'
  );
}

/**
 * The minimum interval between two requests for the keys because of a missing key. Any client can
 * cause such a request by a token with an unknown key.
 */
const RELOAD_COOLDOWN_MS = 5_000;
/** The algorithms with a public key by which `jose` can verify a signature. */
const ALGORITHMS = ['RS', 'PS', 'ES']
  .flatMap((kind) => [`${kind}256`, `${kind}384`, `${kind}512`])
  .concat('EdDSA', 'Ed25519', 'ML-DSA-44', 'ML-DSA-65', 'ML-DSA-87');
/** The minimum size of an RSA key. With a smaller one, `jose` verifies nothing. */
const MIN_MODULUS_BITS = 2048;

interface KeySet {
  readonly getKey: JWTVerifyGetKey;
  /**
   * How often the set was loaded. If the count has grown since a token arrived, a key that is
   * missing now was not in the set at that time.
   */
  readonly loadCount: number;
  /**
   * Loads the set again, unless that has just happened. Does nothing for a set that never needs it.
   */
  reload(): Promise<void>;
}

/** Reads the keys. Throws `INVALID_ARGUMENT` if there are none. */
async function loadKeys(keys: string): Promise<KeySet> {
  if (keys.startsWith('https://')) return new RemoteKeys(parseKeysUrl(keys));
  if (keys.startsWith('http://'))
    throw createUsageError(
      'auth-keys',
      'must be an https address: otherwise an attacker on the way decides who may connect',
    );
  const file = new FileKeys(keys);
  try {
    await file.load();
  } catch (error) {
    const problem = getErrorMessage(error);
    throw createUsageError(
      'auth-keys',
      `names ${keys}, which is no file with a JWK set (${problem})`,
    );
  }
  return file;
}

/** The keys of a file, which is read again once it has changed. */
class FileKeys implements KeySet {
  /** The file is read whenever it has changed, so a key that is missing there is unknown. */
  readonly loadCount = Infinity;
  readonly #path: string;
  #version = '';
  #keys: Promise<JWTVerifyGetKey> | undefined;

  constructor(path: string) {
    this.#path = path;
  }

  readonly getKey: JWTVerifyGetKey = async (header, token) => {
    const find = await this.load();
    return find(header, token);
  };

  async reload(): Promise<void> {}

  /** Rejects if the file has no key that can be used. It is read again once it has changed. */
  async load(): Promise<JWTVerifyGetKey> {
    const version = getFileVersion(this.#path);
    if (version !== this.#version) this.#keys = readKeySet(this.#path);
    this.#version = version;
    try {
      return await (this.#keys as Promise<JWTVerifyGetKey>);
    } catch (error) {
      // Read the file again next time: the cause of the error may be temporary, and the file itself
      // may stay unchanged.
      this.#version = '';
      throw error;
    }
  }
}

async function readKeySet(path: string): Promise<JWTVerifyGetKey> {
  const set = JSON.parse(readTextFile(path)) as JSONWebKeySet;
  const getKey = createLocalJWKSet(set);
  const checks = await Promise.all(set.keys.map(canVerifySignatures));
  if (checks.includes(true)) return getKey;
  throw new Error(`none of its ${set.keys.length} keys can be used to check a signature`);
}

/**
 * Returns whether a key can verify signatures. Unknown kinds are skipped (RFC 7517, §5); damaged,
 * short or private keys throw.
 */
async function canVerifySignatures(key: JWK, at: number): Promise<boolean> {
  const name = key.kid === undefined ? `key ${at}` : `key "${key.kid}"`;
  if (key.d !== undefined)
    throw new Error(`${name} is a private one: keep that where tokens are made`);
  const read = await importVerificationKey(key).catch((error: Error) => {
    const { message } = error.cause instanceof Error ? error.cause : error;
    throw new Error(`${name} cannot be read: ${message}`, { cause: error });
  });
  if (read === undefined) return false;
  const { modulusLength: bits = Infinity } = read.algorithm as { readonly modulusLength?: number };
  if (bits >= MIN_MODULUS_BITS) return true;
  throw new Error(`${name} has a modulus of ${bits} bits: make one of ${MIN_MODULUS_BITS} or more`);
}

/**
 * Imports a key for the verification of signatures. Returns `undefined` if `jose` cannot use it for
 * that.
 */
async function importVerificationKey(key: JWK): Promise<CryptoKey | undefined> {
  const keyOf = createLocalJWKSet({ keys: [key] });
  for (const alg of ALGORITHMS) {
    try {
      return await keyOf({ alg });
    } catch (error) {
      if (!isUnsupportedKey(error)) throw error;
    }
  }
  return undefined;
}

/**
 * Returns whether the key does not fit the algorithm, or this version of Node does not support the
 * algorithm.
 */
function isUnsupportedKey(error: unknown): boolean {
  return error instanceof errors.JWKSNoMatchingKey || (error as Error).name === 'NotSupportedError';
}

class RemoteKeys implements KeySet {
  readonly getKey: ReturnType<typeof createRemoteJWKSet>;
  loadCount = 0;

  constructor(address: URL) {
    this.getKey = createRemoteJWKSet(address, {
      cooldownDuration: RELOAD_COOLDOWN_MS,
      [customFetch]: (url, options) => {
        this.loadCount += 1;
        return fetch(url, options);
      },
    });
  }

  async reload(): Promise<void> {
    if (!this.getKey.coolingDown) await this.getKey.reload();
  }
}

function parseKeysUrl(keys: string): URL {
  try {
    return new URL(keys);
  } catch {
    throw createUsageError(
      'auth-keys',
      `takes the path or the https address of a JWK set, not "${keys}"`,
    );
  }
}
