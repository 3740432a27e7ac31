/**
 * Converts IP addresses to one canonical form: `::ffff:10.0.0.7` and `10.0.0.7` are the same
 * client.
 */
import type { IncomingMessage } from 'node:http';

/** Counts the connections of each address: of one IPv4 address, or of one /64 of IPv6. */
export class ConnectionsPerAddress {
  readonly #counts = new Map<string, number>();
  readonly #countedAddress = new Map<object, string>();

  /**
   * The connections from an address. Returns 0 for an unknown address (a Unix socket), which has no
   * limit.
   */
  count(address: string | undefined): number {
    return address === undefined ? 0 : (this.#counts.get(toCountedAddress(address)) ?? 0);
  }

  enter(connection: object, address: string | undefined): void {
    if (address === undefined) return;
    const counted = toCountedAddress(address);
    this.#countedAddress.set(connection, counted);
    this.#counts.set(counted, (this.#counts.get(counted) ?? 0) + 1);
  }

  leave(connection: object): void {
    const counted = this.#countedAddress.get(connection);
    if (counted === undefined) return;
    this.#countedAddress.delete(connection);
    const left = (this.#counts.get(counted) ?? 0) - 1;
    if (left > 0) this.#counts.set(counted, left);
    else this.#counts.delete(counted);
  }
}

const IPV4_MAPPED = /^::ffff:([\da-f]{1,4}):([\da-f]{1,4})$/;

/**
 * Returns a host or address in its canonical form, without brackets: `::1`, and `127.0.0.1` also
 * for `127.1`.
 */
export function normalizeHost(host: string): string {
  const bare = host.replace(/^\[(.*)\]$/, '$1');
  const [address = '', zone] = bare.split('%', 2);
  const written = address.includes(':') ? `[${address}]` : address;
  if (!URL.canParse(`http://${written}/`)) return bare;
  const { hostname } = new URL(`http://${written}/`);
  const canonical = hostname.replace(/^\[(.*)\]$/, '$1').replace(/\.$/, '');
  const mapped = IPV4_MAPPED.exec(canonical);
  if (mapped !== null) return toIpv4(mapped[1] as string, mapped[2] as string);
  return zone === undefined ? canonical : `${canonical}%${zone}`;
}

function toIpv4(...halves: string[]): string {
  return halves
    .map((half) => Number.parseInt(half, 16))
    .flatMap((half) => [half >> 8, half & 0xff])
    .join('.');
}

/**
 * Returns the address by which limits per address count: an IPv4 address, or the /64 of an IPv6
 * address that is not link-local.
 */
export function toCountedAddress(address: string): string {
  const normalized = normalizeHost(address);
  if (!normalized.includes(':') || normalized.startsWith('fe80:')) return normalized;
  const [head = '', tail = ''] = normalized.split('::', 2);
  const before = head === '' ? [] : head.split(':');
  const after = tail === '' ? [] : tail.split(':');
  const zeros = normalized.includes('::') ? 8 - before.length - after.length : 0;
  const groups = [...before, ...Array.from({ length: zeros }, () => '0'), ...after];
  return `${groups.slice(0, 4).join(':')}::/64`;
}

/** Returns the client's address in its canonical form; `undefined` for a Unix socket. */
export function getRemoteAddress({
  socket: { remoteAddress },
}: IncomingMessage): string | undefined {
  return remoteAddress === undefined ? undefined : normalizeHost(remoteAddress);
}
