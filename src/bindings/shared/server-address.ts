/** Addresses of servers: `host:port`, those of IPv6 in brackets. */
import { isIPv6 } from 'node:net';

export interface ServerAddress {
  readonly host: string;
  readonly port: number;
}

/**
 * Returns the two parts of `host:port`, or of a host alone. Returns `undefined` for another text.
 */
export function parseAddress(text: string, defaultPort: number): ServerAddress | undefined {
  const [, bracketed, bare, digits] =
    /^(?:\[([^\]\s]+)\]|([^:[\]\s]+))(?::(\d+))?$/.exec(text) ?? [];
  const host = bracketed !== undefined && isIPv6(bracketed) ? bracketed : bare;
  const port = digits === undefined ? defaultPort : Number(digits);
  return host !== undefined && port > 0 && port < 65_536 ? { host, port } : undefined;
}

export function formatAddress({ host, port }: ServerAddress): string {
  return host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`;
}
