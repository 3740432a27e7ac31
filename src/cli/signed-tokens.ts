/** Signed tokens (JSON Web Tokens), checked by public keys of a file or an address. */
import { readFile } from 'node:fs/promises';
import { createLocalJWKSet, createRemoteJWKSet, errors, jwtVerify } from 'jose';
import type { JSONWebKeySet, JWTVerifyGetKey } from 'jose';
import { CorrectableError } from '../correctable/errors.ts';
import type { Authenticate } from '../server/gateway/host.ts';
import { usageError } from './options.ts';

/** Who must have made a token, and for whom; whoever has one of the keys, and anybody, unless given. */
export interface TokenClaims {
  readonly issuer: string | undefined;
  readonly audience: string | undefined;
}

/** How far the clock of who makes tokens may be off. */
const CLOCK_TOLERANCE_S = 5;
const MS_PER_S = 1000;

/**
 * Takes tokens that one of the keys has signed and that say whose they are (`sub`) and until when (`exp`).
 *
 * @param keys the path of a JWK set, or the https address of one
 * @throws CorrectableError `INVALID_ARGUMENT` where there are no such keys
 */
export async function signedTokens(keys: string, { issuer, audience }: TokenClaims): Promise<Authenticate> {
  const keyOf = await keysAt(keys);
  const requirements = {
    ...(issuer === undefined ? {} : { issuer }),
    ...(audience === undefined ? {} : { audience }),
    requiredClaims: ['sub', 'exp'],
    clockTolerance: CLOCK_TOLERANCE_S,
  };
  return async (token = '') => {
    try {
      const { payload } = await jwtVerify(token, keyOf, requirements);
      return { id: String(payload.sub), expiresAt: Number(payload.exp) * MS_PER_S };
    } catch (error) {
      if (isVerdict(error)) throw error;
      throw new CorrectableError('UNAVAILABLE', `The keys at ${keys} cannot be read.`, { cause: error });
    }
  };
}

async function keysAt(keys: string): Promise<JWTVerifyGetKey> {
  if (keys.startsWith('https://')) return createRemoteJWKSet(addressOf(keys));
  if (keys.startsWith('http://'))
    throw usageError('auth-keys', 'takes an https address, or whoever is between says who may connect');
  try {
    return createLocalJWKSet(JSON.parse(await readFile(keys, 'utf8')) as JSONWebKeySet);
  } catch (error) {
    const problem = error instanceof Error ? error.message : String(error);
    throw usageError('auth-keys', `names ${keys}, which is no file with a JWK set (${problem})`);
  }
}

function addressOf(keys: string): URL {
  try {
    return new URL(keys);
  } catch {
    throw usageError('auth-keys', `takes the path or the https address of a JWK set, not "${keys}"`);
  }
}

/** Whether the token was looked at: keys that did not come say nothing about it. */
function isVerdict(error: unknown): boolean {
  if (!(error instanceof errors.JOSEError)) return false;
  return !(
    error instanceof errors.JWKSTimeout ||
    error instanceof errors.JWKSInvalid ||
    error.code === 'ERR_JOSE_GENERIC'
  );
}
