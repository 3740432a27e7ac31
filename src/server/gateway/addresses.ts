/** Counts the connections of each address: of one IPv4 address, or of one /64 of IPv6. */
import { toCountedAddress } from './host/ip-addresses.ts';

export class Addresses {
  readonly #counts = new Map<string, number>();
  readonly #addressOf = new Map<object, string>();

  /** The connections from an address. An unknown address (a socket in the file system) has no limit, so 0. */
  connectionsFrom(address: string | undefined): number {
    return address === undefined ? 0 : (this.#counts.get(toCountedAddress(address)) ?? 0);
  }

  enter(connection: object, address: string | undefined): void {
    if (address === undefined) return;
    const counted = toCountedAddress(address);
    this.#addressOf.set(connection, counted);
    this.#counts.set(counted, (this.#counts.get(counted) ?? 0) + 1);
  }

  leave(connection: object): void {
    const counted = this.#addressOf.get(connection);
    if (counted === undefined) return;
    this.#addressOf.delete(connection);
    const left = (this.#counts.get(counted) ?? 0) - 1;
    if (left > 0) this.#counts.set(counted, left);
    else this.#counts.delete(counted);
  }
}
