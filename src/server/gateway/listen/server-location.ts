/** Where a server listens: who can reach it there, and what it is called. */
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { CorrectableError } from '../../../correctable/errors.ts';
import { normalizeHost } from '../host/ip-addresses.ts';
import { isLoopbackHost } from '../host/origins.ts';

/**
 * Where a server really listens, whoever made it listen there: it may go elsewhere. Once it is closed, where it did last,
 * since the connections that it has then go on.
 */
export class ServerLocation {
  readonly #server: Server;
  /** The sites that let everybody in, unless that is meant to be so. */
  readonly #open: readonly string[];
  #address: AddressInfo | string | null = null;
  readonly #look = (): void => {
    this.#address = this.#server.address() ?? this.#address;
  };

  constructor(server: Server, open: readonly string[]) {
    this.#server = server;
    this.#open = open;
    this.#look();
    server.on('listening', this.#look);
  }

  /** Looks no more whether the server goes elsewhere. */
  leave(): void {
    this.#server.off('listening', this.#look);
  }

  /** The address; `undefined` for a socket in the file system, or before it listens. */
  get boundTo(): string | undefined {
    this.#look();
    return typeof this.#address === 'object' ? this.#address?.address : undefined;
  }

  /** Whether somebody elsewhere could reach a site that lets everybody in. */
  get isExposed(): boolean {
    return this.#open.length > 0 && this.boundTo !== undefined && !isLoopbackHost(this.boundTo);
  }

  /** Throws `INVALID_ARGUMENT`, which names `field`, where it would be exposed at `host`. */
  check(host: string, field: string): void {
    if (this.#open.length === 0 || isLoopbackHost(host)) return;
    const message = `${field}: ${host} is reachable by others, and ${this.#open.join(', ')} lets everybody in: give the gateway authenticate, or allowUnauthenticated here`;
    throw new CorrectableError('INVALID_ARGUMENT', message, { field });
  }

  /** Addresses on this server by scheme, for example `ws`; `host` is what it was asked to listen on, if it was. */
  base(scheme: string, host: string | undefined): string {
    this.#look();
    const address = this.#address;
    // As the package `ws` has it: the path on the server follows after a colon.
    if (typeof address === 'string' || address === null) return `${scheme}+unix:${address ?? ''}:`;
    const name = normalizeHost(host ?? address.address);
    return `${scheme}://${name.includes(':') ? `[${name}]` : name}:${address.port}`;
  }
}
