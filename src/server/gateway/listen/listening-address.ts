/**
 * Where a server listens: which clients can reach it there, and its address.
 */
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { CorrectableError } from '../../../correctable/errors.ts';
import { normalizeHost } from '../context/ip-addresses.ts';
import { isLoopbackHost } from '../context/origins.ts';

/**
 * Where a server really listens, also if the application made it listen; once
 * it is closed, where it last did.
 */
export class ServerLocation {
  readonly #server: Server;
  /** The sites that let everybody in, unless that is meant to be so. */
  readonly #openSites: readonly string[];
  #address: AddressInfo | string | null = null;
  readonly #refresh = (): void => {
    this.#address = this.#server.address() ?? this.#address;
  };

  constructor(server: Server, open: readonly string[]) {
    this.#server = server;
    this.#openSites = open;
    this.#refresh();
    server.on('listening', this.#refresh);
  }

  /** Looks no more whether the server goes elsewhere. */
  stop(): void {
    this.#server.off('listening', this.#refresh);
  }

  /**
   * The address; `undefined` for a socket in the file system, or before it
   * listens.
   */
  get boundTo(): string | undefined {
    this.#refresh();
    return typeof this.#address === 'object'
      ? this.#address?.address
      : undefined;
  }

  /** Whether other hosts could reach a site that accepts every client. */
  get isExposed(): boolean {
    return (
      this.#openSites.length > 0 &&
      this.boundTo !== undefined &&
      !isLoopbackHost(this.boundTo)
    );
  }

  /**
   * Throws `INVALID_ARGUMENT`, which names `field`, where it would be exposed
   * at `host`.
   */
  assertNotExposed(host: string, field: string): void {
    if (this.#openSites.length === 0 || isLoopbackHost(host)) return;
    const message = `${field}: ${host} is reachable by others, and ${this.#openSites.join(', ')} lets everybody in: give the gateway authenticate, or allowUnauthenticated here`;
    throw new CorrectableError('INVALID_ARGUMENT', message, { field });
  }

  /**
   * Addresses on this server by scheme, for example `ws`; `host` is what it was
   * asked to listen on, if it was.
   */
  getBaseUrl(scheme: string, host: string | undefined): string {
    this.#refresh();
    const address = this.#address;
    // As the package `ws` has it: the path on the server follows after a colon.
    if (typeof address === 'string' || address === null)
      return `${scheme}+unix:${address ?? ''}:`;
    const name = normalizeHost(host ?? address.address);
    return `${scheme}://${name.includes(':') ? `[${name}]` : name}:${address.port}`;
  }
}
