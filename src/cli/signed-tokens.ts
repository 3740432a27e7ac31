/** Signed tokens (JSON Web Tokens), checked by public keys of a file or an address. */
import { decodeProtectedHeader, errors, jwtVerify, type JWTPayload, type JWTVerifyOptions } from 'jose';
import { CorrectableError, isCorrectableError } from '../correctable/errors.ts';
import type { Authenticate, Principal } from '../server/gateway/host/host.ts';
import { keysAt, type KeySet } from './key-set.ts';

/** Who must have made a token, and for whom; whoever has one of the keys, and anybody, unless given. */
export interface TokenClaims {
  readonly issuer: string | undefined;
  readonly audience: string | undefined;
}

/** How far the clock of who makes tokens may be off. */
const CLOCK_TOLERANCE_S = 5;
const MS_PER_S = 1000;

/**
 * Takes tokens that one of the keys has signed and that say whose they are (`sub`) and until when (`exp`). A token whose
 * key is not known is refused only once the keys have been asked for since it came: until then nobody can tell.
 *
 * @param keys the path of a JWK set, or the https address of one
 * @throws CorrectableError `INVALID_ARGUMENT` where there are no such keys
 */
export async function signedTokens(keys: string, { issuer, audience }: TokenClaims): Promise<Authenticate> {
  const set = await keysAt(keys);
  const requirements: JWTVerifyOptions = {
    ...(issuer === undefined ? {} : { issuer }),
    ...(audience === undefined ? {} : { audience }),
    requiredClaims: ['sub', 'exp'],
    clockTolerance: CLOCK_TOLERANCE_S,
  };
  return async (token = '') => {
    try {
      return principalOf(await payloadOf(token, set, requirements));
    } catch (error) {
      if (isVerdict(error) || isCorrectableError(error)) throw error;
      throw new CorrectableError('UNAVAILABLE', `The keys at ${keys} cannot be read.`, { cause: error });
    }
  };
}

async function payloadOf(token: string, set: KeySet, requirements: JWTVerifyOptions): Promise<JWTPayload> {
  const readsBefore = set.reads;
  try {
    return await verified(token, set, requirements);
  } catch (error) {
    if (!isOfUnknownKey(error, token) || set.reads === Infinity) throw error;
    await set.reread();
    if (set.reads === readsBefore) {
      const message = 'The token is of a key that was not known when the keys were read, a moment ago; ask again.';
      throw new CorrectableError('UNAVAILABLE', message, { cause: error });
    }
    return verified(token, set, requirements);
  }
}

/** What a token claims that one of the keys has signed: those that have no name, or share one, are all tried. */
async function verified(token: string, { keyOf }: KeySet, requirements: JWTVerifyOptions): Promise<JWTPayload> {
  try {
    return (await jwtVerify(token, keyOf, requirements)).payload;
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

/** Whether another key may be the right one: the one that it names is missing, or it names none, and none fits. */
function isOfUnknownKey(error: unknown, token: string): boolean {
  if (error instanceof errors.JWKSNoMatchingKey) return true;
  return error instanceof errors.JWSSignatureVerificationFailed && decodeProtectedHeader(token).kid === undefined;
}

function principalOf({ sub, exp }: { readonly sub?: unknown; readonly exp?: number }): Principal {
  // Signed as it may be: of two objects, as text, one cannot be told from the other.
  if (typeof sub !== 'string' || sub === '') {
    throw new errors.JWTClaimValidationFailed('"sub" claim must be a text that is not empty', {}, 'sub', 'invalid');
  }
  return { id: sub, expiresAt: Number(exp) * MS_PER_S };
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
