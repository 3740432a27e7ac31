/** How many connections come from each address. */

export class Addresses {
  readonly #counts = new Map<string, number>();
  readonly #addressOf = new Map<object, string>();

  /** The connections from an address; of one that is not known, as of a socket in the file system, none are counted. */
  connectionsFrom(address: string | undefined): number {
    return address === undefined ? 0 : (this.#counts.get(address) ?? 0);
  }

  enter(connection: object, address: string | undefined): void {
    if (address === undefined) return;
    this.#addressOf.set(connection, address);
    this.#counts.set(address, this.connectionsFrom(address) + 1);
  }

  leave(connection: object): void {
    const address = this.#addressOf.get(connection);
    if (address === undefined) return;
    this.#addressOf.delete(connection);
    const left = this.connectionsFrom(address) - 1;
    if (left > 0) this.#counts.set(address, left);
    else this.#counts.delete(address);
  }
}
