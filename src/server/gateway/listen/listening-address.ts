/** Finds out the address at which a server listens, and which clients can reach it there. */
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { CorrectableError } from '../../../correctable/errors.ts';
import { normalizeHost } from '../context/ip-addresses.ts';
import { isLoopbackHost } from '../context/origins.ts';

/**
 * The address at which a server really listens, even if the application has started it. After the
 * server is closed, this is its last address.
 */
export class ServerLocation {
  readonly #server: Server;
  /** The sites that accept every client, unless that is allowed explicitly. */
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

  /** Stops watching whether the server listens elsewhere. */
  stop(): void {
    this.#server.off('listening', this.#refresh);
  }

  /** The address; `undefined` for a Unix socket, or before the server listens. */
  get boundTo(): string | undefined {
    this.#refresh();
    return typeof this.#address === 'object' ? this.#address?.address : undefined;
  }

  /** Whether other hosts could reach a site that accepts every client. */
  get isExposed(): boolean {
    return (
      this.#openSites.length > 0 && this.boundTo !== undefined && !isLoopbackHost(this.boundTo)
    );
  }

  /** Throws `INVALID_ARGUMENT`, which names `field`, if a site would be exposed at `host`. */
  assertNotExposed(host: string, field: string): void {
    if (this.#openSites.length === 0 || isLoopbackHost(host)) return;
    const message = `${field}: ${host} is reachable by others, and ${this.#openSites.join(', ')} lets everybody in: give the gateway authenticate, or allowUnauthenticated here`;
    throw new CorrectableError('INVALID_ARGUMENT', message, { field });
  }

  /**
   * Returns the address of this server with a scheme, for example `ws`. `host` is the option with
   * the address to listen on, if there is one.
   */
  getBaseUrl(scheme: string, host: string | undefined): string {
    this.#refresh();
    const address = this.#address;
    // The package `ws` expects the path on the server after a colon.
    if (typeof address === 'string' || address === null) return `${scheme}+unix:${address ?? ''}:`;
    const name = normalizeHost(host ?? address.address);
    return `${scheme}://${name.includes(':') ? `[${name}]` : name}:${address.port}`;
  }
}
