import { createHash } from 'node:crypto';
import { CorrectableError } from '../../../correctable/errors.ts';
import { isWellFormed } from '../../../protocol/codec/tagged-values.ts';
import type { Authenticate, Peer, Principal } from './gateway-context.ts';
import { callHook } from '../operations/call-hook.ts';

const TAG_LENGTH = 22;

/**
 * Calls `authenticate` and checks its result. Throws its error, `UNAUTHENTICATED` without a
 * principal, `UNAVAILABLE` if it is too slow.
 */
export async function identify(
  authenticate: Authenticate,
  { token, peer, timeoutMs }: { token: string | undefined; peer: Peer; timeoutMs: number },
): Promise<Principal> {
  return checkPrincipal(await callHook('authenticate', timeoutMs, () => authenticate(token, peer)));
}

/**
 * Returns whether the token has expired, by the machine's clock. That clock may be set at any time,
 * so this is checked at each use.
 */
export function hasEnded({ expiresAt }: Principal): boolean {
  return expiresAt !== undefined && expiresAt <= Date.now();
}

/**
 * Returns a name for a principal that does not reveal it: the same at every site and after every
 * restart.
 */
export function hashPrincipal({ id }: Principal): string {
  return createHash('sha256').update(id).digest('base64url').slice(0, TAG_LENGTH);
}

function checkPrincipal(value: unknown): Principal {
  if (typeof value !== 'object' || value === null)
    return rejectPrincipal(`must give a principal, not ${String(value)}`);
  const { id, expiresAt } = value as {
    readonly id?: unknown;
    readonly expiresAt?: unknown;
  };
  if (typeof id !== 'string' || !isWellFormed(id))
    return rejectPrincipal('must give a principal whose id is a well-formed string');
  if (expiresAt !== undefined && (typeof expiresAt !== 'number' || Number.isNaN(expiresAt))) {
    return rejectPrincipal('must give expiresAt in milliseconds since the epoch, or none');
  }
  return value as Principal;
}

function rejectPrincipal(problem: string): never {
  throw new CorrectableError('UNAUTHENTICATED', `authenticate: ${problem}`, {
    field: 'authenticate',
  });
}
