/** What a token is good for: a principal, or the end of the connection. */
import { CloseCode } from '../../../protocol/close-codes.ts';
import { isUndecided } from '../submission/hooks.ts';
import type { GatewayHost, Peer, Principal } from '../host/host.ts';
import { hasEnded } from '../host/principal.ts';

/** What is said of a token. */
export type TokenVerdict = { readonly principal: Principal } | TokenRefusal;

/** With which code, and why, the connection is to be closed. */
export interface TokenRefusal {
  readonly code: number;
  readonly reason: string;
  /** Nobody could tell, which is no refusal of the token. */
  readonly isUndecided: boolean;
}

/** The verdict on a token whose time is over: another may help. */
export const EXPIRED: TokenRefusal = { code: CloseCode.expired, reason: 'the token has expired', isUndecided: false };

/** Checks a token; what refuses it is logged, never thrown. */
export async function checkToken(host: GatewayHost, token: string | undefined, peer: Peer): Promise<TokenVerdict> {
  try {
    const principal = await host.identify(token, peer);
    return hasEnded(principal) ? EXPIRED : { principal };
  } catch (error) {
    if (isUndecided(error)) {
      host.logger.warn({ err: error, ...peer }, 'authenticate could not tell who a client is');
      return { code: CloseCode.internal, reason: 'the token could not be checked', isUndecided: true };
    }
    host.logger.info({ err: error, ...peer }, 'a client was not authenticated');
    return { code: CloseCode.unauthenticated, reason: 'the token was refused', isUndecided: false };
  }
}
