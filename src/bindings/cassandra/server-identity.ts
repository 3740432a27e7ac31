/**
 * Whose certificate a node may show: one for its address, as the driver expects it, or for its name, as it is in
 * `contactPoints`.
 */
import { checkServerIdentity, type PeerCertificate } from 'node:tls';

interface TlsChoice {
  readonly servername?: unknown;
}

/** Options for `tls.connect`; none where the options say which name to expect. */
export function serverIdentity(contactPoints: readonly string[], tls: TlsChoice): object {
  if (tls.servername !== undefined) return {};
  const names = contactPoints.map((point) => point.replace(/:\d+$/, '').replace(/^\[(.*)\]$/, '$1'));
  return {
    checkServerIdentity(address: string, certificate: PeerCertificate): Error | undefined {
      const failures = [address, ...names].map((name) => checkServerIdentity(name, certificate));
      return failures.includes(undefined) ? undefined : failures[0];
    },
  };
}
